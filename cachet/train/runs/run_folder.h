#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/data_digest.h"
#include "cachet/io/files/folder_lock.h"
#include "cachet/train/runs/resume_rules.h"
#include "cachet/train/runs/run_description.h"

namespace cachet::train {

/// The text of a recipe as its user wrote it.
struct WrittenRecipe {
  std::string name;  // name of the recipe's file, without folder and suffix: "demo_plain"
  std::string text;
};

/// The error if another process is training the run.
class RunInUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class WhenInUse { refuse, wait };

/// Whether the link `latest` next to a new run will point to this run.
enum class LatestLink { pointed, untouched };

/// The folder of one run, with the files that docs/training.md lists.
class RunFolder {
 public:
  /// Creates the folder. If `latest` is LatestLink::pointed, also makes the link `latest` next to the folder.
  /// `document` is the recipe as it was read. `more` has the further files of the run: it maps the name of each file to
  /// its text. Changes no existing files. Throws std::runtime_error if the folder exists or cannot be written.
  static RunFolder create(const std::filesystem::path& path, const WrittenRecipe& recipe,
                          const config::Document& document, const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& more = {}, LatestLink latest = LatestLink::pointed);

  /// Opens an existing run to resume it, and compares the recipe with the original recipe. Changes that do not affect
  /// the training so far are stored in the folder. (A change of data.root is stored later: by require_same_data() after
  /// it has compared the data, or by keep_changes().) For other changes, throws std::runtime_error with a diff. If
  /// another process is training the run, throws RunInUse or waits.
  static RunFolder resume(const std::filesystem::path& path, const config::Document& document,
                          const std::vector<std::string>& command, WhenInUse when_in_use = WhenInUse::refuse);

  /// Opens a run for reading, for example for reports, comparisons and evaluation.
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path summary() const { return path_ / "summary.csv"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path status() const { return path_ / "status.json"; }
  std::filesystem::path evaluation() const { return path_ / "evaluation.json"; }
  std::filesystem::path unfinished_evaluation() const { return path_ / "evaluation.jsonl"; }
  std::filesystem::path profile() const { return path_ / "profile.json"; }
  std::filesystem::path report() const { return path_ / "report.html"; }
  std::filesystem::path recipe() const { return path_ / "recipe.toml"; }
  std::filesystem::path resolved() const { return path_ / "resolved.toml"; }
  std::filesystem::path commands() const { return path_ / "command.txt"; }
  std::filesystem::path environment() const { return path_ / "environment.json"; }

  const std::string& id() const { return run_.id; }                            // id of the run; also in every manifest
  const std::string& recipe_name() const { return run_.recipe; }               // empty if the run did not store it
  const std::string& created() const { return run_.created; }                  // 2026-11-21T20:43:45Z
  const RecipeValues& values() const { return run_.values; }                   // the recipe's values at the last resume
  const std::set<std::string>& default_keys() const { return run_.defaults; }  // keys that the user did not set
  const std::set<std::string>& set_keys() const { return run_.set; }           // keys that a command line set
  std::string config_hash() const;  // hash of values that may not change on resume, with the original data path
  /// Whether a checkpoint with the hash `hash` belongs to this recipe (resume_rules.h, fits_checkpoint()).
  bool fits_checkpoint(const std::string& hash) const;
  /// If the run began with a version of Cachet that stored no descriptions, and was not resumed since then, returns
  /// std::nullopt.
  const std::optional<RunDescription>& description() const { return run_.description; }
  /// Stores the description in run.json. Throws io::Error.
  void describe(const RunDescription& description);
  /// Stores in environment.json the number of processes that train the run together from now on. Throws io::Error.
  void trained_by(int64_t processes);
  /// Returns the number of processes that trained_by() stored last, or 0 if it stored none or environment.json cannot
  /// be read.
  int64_t processes() const { return processes_; }

  bool knows_its_data() const { return !run_.data.empty(); }
  using SavedDigest = std::variant<data::DataDigest, std::string>;              // a string in version 0.1.0
  const std::map<std::string, SavedDigest>& data() const { return run_.data; }  // by split: "training", "evaluation"
  using Fingerprints = std::function<std::map<std::string, std::string>()>;
  /// Compares data with the run's original data. Returns lines for the user about data that could not be compared.
  /// Calls `fingerprints`, which computes digests as in version 0.1.0, only for a run of that version. If the data of a
  /// split differ, throws std::runtime_error, which names the split and the differences.
  std::vector<std::string> compare_data(const std::map<std::string, data::DataDigest>& digests,
                                        const Fingerprints& fingerprints) const;
  /// Compares data with compare_data(). If the run has no digests of its data, or only digests of version 0.1.0, then
  /// stores `digests`. On the first resume with a version that changed rules, the returned lines also list the earlier
  /// rules that the run still uses. Throws the errors of compare_data(), and io::Error.
  std::vector<std::string> require_same_data(const std::map<std::string, data::DataDigest>& digests,
                                             const Fingerprints& fingerprints);
  /// Stores a data.root that the user changed for this resume. require_same_data() calls keep_changes() after it has
  /// compared the data.
  void keep_changes();
  /// Returns the text of recipe.toml, which is only for display, because a resume uses other files. If recipe.toml is
  /// missing or unreadable, returns std::nullopt.
  std::optional<std::string> recipe_text() const;
  /// Whether recipe.toml has changed since the run was created.
  bool recipe_was_edited() const;
  /// Returns the text of command.txt, or an empty text if the file is missing or unreadable.
  std::string command_text() const;

  /// Releases the lock of the run, so that another process can continue the run.
  void let_go() { lock_.reset(); }

  const std::vector<std::string>& changes() const { return changes_; }  // made by this resume: "train.epochs: 10 -> 20"

 private:
  RunFolder() = default;
  RecipeValues values_to_hash() const;

  struct Identity {  // run.json
    std::string id, recipe, created;
    RecipeValues values;
    std::set<std::string> defaults;           // keys with default values
    std::set<std::string> set;                // keys that a command line set, when the run was made or resumed
    std::string recipe_digest;                // digest of recipe.toml
    RecipeValues first_places;                // the first data.root, if it was changed: the value in the checkpoints
    std::map<std::string, SavedDigest> data;  // digests by split
    std::set<std::string> earlier;            // keys with an earlier value that were reported
    std::set<std::string> kept;               // names of further stored files
    std::optional<RunDescription> description;
  };
  static std::string to_json(const Identity& run);
  static Identity read_identity(const std::filesystem::path& path);
  friend std::optional<std::filesystem::path> run_of_file(const std::filesystem::path& path);

  std::filesystem::path path_;
  Identity run_;
  int64_t processes_ = 0;
  std::vector<std::string> changes_;
  std::vector<std::string> untold_;  // rules of an earlier version that the run still uses
  struct Changes {
    std::string lines, resolved;  // lines for changes.txt; text of resolved.toml
  };
  std::optional<Changes> unkept_;
  std::optional<io::FolderLock> lock_;  // exists while this process trains the run
};

/// Whether a process is training the run, or true if the file system does not report this. Changes no files.
bool is_being_trained(const std::filesystem::path& run);

bool is_run_folder(const std::filesystem::path& path);

/// Returns the folder of the run to which `path` belongs, if `path` names a file that Cachet writes for each run, a
/// further file that run.json lists, or a file in `checkpoints`. The file `path` need not exist. For any other path,
/// even in a run folder, returns std::nullopt. Follows symbolic links in `path`, except in its last component.
std::optional<std::filesystem::path> run_of_file(const std::filesystem::path& path);

/// Returns the number of processes that train a recipe: for a run's resolved.toml, the run's processes; otherwise 1.
int64_t processes_of_recipe(const std::filesystem::path& path);

/// Returns `<root>/<date>-<name>`, followed by a number if this path already exists.
std::filesystem::path new_run_path(const std::filesystem::path& root, const std::string& name);

}  // namespace cachet::train
