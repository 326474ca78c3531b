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

/// A recipe in its user's own text.
struct WrittenRecipe {
  std::string name;  // name of its file, without folder and suffix: "demo_plain"
  std::string text;
};

/// Thrown if another process is training the run.
class RunInUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class WhenInUse { refuse, wait };

/// Whether the link `latest` next to a new run is to point to the run.
enum class LatestLink { pointed, untouched };

/// The folder of one run, with the files that docs/training.md lists.
class RunFolder {
 public:
  /// Creates the folder and, with LatestLink::pointed, the link `latest` next to it. `document` is the recipe as it was
  /// read; `more` are further files by name. Changes no existing files. Throws std::runtime_error if the folder exists
  /// or cannot be written.
  static RunFolder create(const std::filesystem::path& path, const WrittenRecipe& recipe,
                          const config::Document& document, const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& more = {}, LatestLink latest = LatestLink::pointed);

  /// Opens an existing run to resume it. Compares the recipe with the original one. Stores changes that do not affect
  /// the training so far in the folder (another data.root is stored after require_same_data() has compared the data, or
  /// by keep_changes()). Refuses all other changes with a diff (std::runtime_error). While another process is training
  /// the run, throws RunInUse, or waits.
  static RunFolder resume(const std::filesystem::path& path, const config::Document& document,
                          const std::vector<std::string>& command, WhenInUse when_in_use = WhenInUse::refuse);

  /// Opens a run for reading: for reports, comparisons, evaluation.
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path summary() const { return path_ / "summary.csv"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path status() const { return path_ / "status.json"; }
  std::filesystem::path evaluation() const { return path_ / "evaluation.json"; }
  std::filesystem::path unfinished_evaluation() const { return path_ / "evaluation.jsonl"; }
  std::filesystem::path report() const { return path_ / "report.html"; }
  std::filesystem::path recipe() const { return path_ / "recipe.toml"; }
  std::filesystem::path resolved() const { return path_ / "resolved.toml"; }
  std::filesystem::path commands() const { return path_ / "command.txt"; }
  std::filesystem::path environment() const { return path_ / "environment.json"; }

  const std::string& id() const { return run_.id; }                            // identifies the run; in every manifest
  const std::string& recipe_name() const { return run_.recipe; }               // empty if the run did not store it
  const std::string& created() const { return run_.created; }                  // 2026-11-21T20:43:45Z
  const RecipeValues& values() const { return run_.values; }                   // of the recipe, as last resumed
  const std::set<std::string>& default_keys() const { return run_.defaults; }  // keys that the user did not set
  const std::set<std::string>& set_keys() const { return run_.set; }           // keys that a command line set
  std::string config_hash() const;  // of values that may not change on resume, with the original path of the data
  /// Empty if the run began before runs had descriptions, and has not been resumed since.
  const std::optional<RunDescription>& description() const { return run_.description; }
  /// Stores the description in run.json. Throws io::Error.
  void describe(const RunDescription& description);
  /// Stores the number of processes that now train the run together in environment.json. Throws io::Error.
  void trained_by(int64_t processes);
  /// Returns the last argument of trained_by(); 0 before that, or if environment.json cannot be read.
  int64_t processes() const { return processes_; }

  bool knows_its_data() const { return !run_.data.empty(); }
  using SavedDigest = std::variant<data::DataDigest, std::string>;              // a string in version 0.1.0
  const std::map<std::string, SavedDigest>& data() const { return run_.data; }  // by split: "training", "evaluation"
  using Fingerprints = std::function<std::map<std::string, std::string>()>;
  /// Compares data with the run's original data, and returns lines for the user on data that could not be compared.
  /// Calls `fingerprints` only for a run of version 0.1.0. If the data of a split differ, throws std::runtime_error
  /// that names the split and the differences.
  std::vector<std::string> compare_data(const std::map<std::string, data::DataDigest>& digests,
                                        const Fingerprints& fingerprints) const;
  /// Does the same, then stores the digests if the run has none, or only those of version 0.1.0. On the first resume
  /// with a version that changed rules, the lines also list the rules of an earlier version that the run still uses.
  /// Also throws io::Error.
  std::vector<std::string> require_same_data(const std::map<std::string, data::DataDigest>& digests,
                                             const Fingerprints& fingerprints);
  /// Stores a change of the recipe by this resume that waits for the comparison of the data: another data.root.
  void keep_changes();
  /// Returns the text of recipe.toml, which is only shown: a resume uses other files. Empty if the file is missing or
  /// cannot be read.
  std::optional<std::string> recipe_text() const;
  /// Whether recipe.toml has changed since the run was created.
  bool recipe_was_edited() const;
  /// Returns the text of command.txt; empty if the file is missing or cannot be read.
  std::string command_text() const;

  /// Releases the lock of the run, so that another process can continue it.
  void let_go() { lock_.reset(); }

  const std::vector<std::string>& changes() const { return changes_; }  // by this resume: "train.epochs: 10 -> 20"

 private:
  RunFolder() = default;

  struct Identity {  // run.json
    std::string id, recipe, created;
    RecipeValues values;
    std::set<std::string> defaults;           // keys with default values
    std::set<std::string> set;                // keys that a command line set, when the run was made or resumed
    std::string recipe_digest;                // of recipe.toml
    RecipeValues first_places;                // the first data.root, if it was changed: the value in the checkpoints
    std::map<std::string, SavedDigest> data;  // by split
    std::set<std::string> earlier;            // reported keys with an earlier value
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
    std::string lines, resolved;  // for changes.txt; the text of resolved.toml
  };
  std::optional<Changes> unkept_;
  std::optional<io::FolderLock> lock_;  // held while a run is trained
};

/// Whether a process is training the run. Changes nothing. If the file system does not report this, returns true.
bool is_being_trained(const std::filesystem::path& run);

bool is_run_folder(const std::filesystem::path& path);

/// Returns the folder of the run that a path belongs to: the path of one of the run's own files, its
/// stored files, or its checkpoints. The file itself need not exist. Empty for any other path, even in
/// a run's folder. Follows links in the path to the folder, but not a link in the last part of the
/// path.
std::optional<std::filesystem::path> run_of_file(const std::filesystem::path& path);

/// Returns the number of processes that train the recipe in a file: the run's number for its resolved.toml, else one.
int64_t processes_of_recipe(const std::filesystem::path& path);

/// Returns `<root>/<date>-<name>`, followed by a number if that name exists.
std::filesystem::path new_run_path(const std::filesystem::path& root, const std::string& name);

}  // namespace cachet::train
