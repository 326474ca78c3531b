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

/// A recipe as its user wrote it.
struct WrittenRecipe {
  std::string name;  // of its file, without folder and suffix: "demo_plain"
  std::string text;
};

/// A run that another process is training.
class RunInUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class WhenInUse { refuse, wait };

/// Whether the link `latest` next to a new run is to lead to it.
enum class LatestLink { pointed, untouched };

/// The folder of one run, laid out as docs/training.md shows.
class RunFolder {
 public:
  /// Makes the folder and, with LatestLink::pointed, points `latest` next to it to it. `document` is what was read
  /// from the recipe; `more` are further files by their names. Nothing that exists is touched. Throws
  /// std::runtime_error when the folder exists or cannot be written.
  static RunFolder create(const std::filesystem::path& path, const WrittenRecipe& recipe,
                          const config::Document& document, const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& more = {}, LatestLink latest = LatestLink::pointed);

  /// Opens an existing run to resume it. Compares the recipe with that of the run's beginning. Changes that do not
  /// alter what was trained so far are stored in the folder (another data.root after require_same_data() has compared
  /// the data, or by keep_changes()). All others are refused with a diff (std::runtime_error). Throws RunInUse, or
  /// waits, while another process is training it.
  static RunFolder resume(const std::filesystem::path& path, const config::Document& document,
                          const std::vector<std::string>& command, WhenInUse when_in_use = WhenInUse::refuse);

  /// Opens a run to read it: for reports, comparisons, evaluation.
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

  const std::string& id() const { return run_.id; }                            // distinguishes runs; in every manifest
  const std::string& recipe_name() const { return run_.recipe; }               // empty for a run that did not keep it
  const std::string& created() const { return run_.created; }                  // 2026-11-21T20:43:45Z
  const RecipeValues& values() const { return run_.values; }                   // of the recipe, as last resumed
  const std::set<std::string>& default_keys() const { return run_.defaults; }  // of values that nobody wrote
  const std::set<std::string>& set_keys() const { return run_.set; }           // of values that a command line set
  std::string config_hash() const;  // of what may not change on resume, with the data where they lay at first
  /// Nothing for a run that began before runs described themselves, and has not been resumed since.
  const std::optional<RunDescription>& description() const { return run_.description; }
  /// Keeps it in run.json. Throws io::Error.
  void describe(const RunDescription& description);
  /// Keeps in environment.json how many processes train the run together from now on. Throws io::Error.
  void trained_by(int64_t processes);
  /// The last argument of trained_by(); 0 before that, or if environment.json cannot be read.
  int64_t processes() const { return processes_; }

  bool knows_its_data() const { return !run_.data.empty(); }
  using SavedDigest = std::variant<data::DataDigest, std::string>;              // the latter of version 0.1.0
  const std::map<std::string, SavedDigest>& data() const { return run_.data; }  // by split: "training", "evaluation"
  using Fingerprints = std::function<std::map<std::string, std::string>()>;
  /// Compares data with those that the run began with, and returns lines for the user: what could not be compared. A
  /// run of version 0.1.0 is compared by `fingerprints`, which are made only then. Throws std::runtime_error that names
  /// a split whose data are others, and how they differ.
  std::vector<std::string> compare_data(const std::map<std::string, data::DataDigest>& digests,
                                        const Fingerprints& fingerprints) const;
  /// The same; then keeps the digests where the run has none, or those of version 0.1.0. On the first resume with a
  /// version whose rules are others, the lines also list the rules of an earlier version that the run keeps. Throws
  /// io::Error too.
  std::vector<std::string> require_same_data(const std::map<std::string, data::DataDigest>& digests,
                                             const Fingerprints& fingerprints);
  /// Keeps what this resume changes in the recipe, if that waits for the comparison of the data: another data.root.
  void keep_changes();
  /// The text of recipe.toml, which is only shown: a run is resumed by its other files. Nothing if the file is missing
  /// or cannot be read.
  std::optional<std::string> recipe_text() const;
  /// Whether recipe.toml has changed since the run was made.
  bool recipe_was_edited() const;
  /// The text of command.txt; empty if the file is missing or cannot be read.
  std::string command_text() const;

  /// Releases the run, so that another process can continue it.
  void let_go() { lock_.reset(); }

  const std::vector<std::string>& changes() const { return changes_; }  // on this resume: "train.epochs: 10 -> 20"

 private:
  RunFolder() = default;

  struct Identity {  // run.json
    std::string id, recipe, created;
    RecipeValues values;
    std::set<std::string> defaults;           // keys that are at their defaults
    std::set<std::string> set;                // keys that a command line set, when the run was made or resumed
    std::string recipe_digest;                // of recipe.toml
    RecipeValues first_places;                // of data.root, once it was changed: the value that checkpoints know
    std::map<std::string, SavedDigest> data;  // by split
    std::set<std::string> earlier;            // keys at an earlier value that were reported
    std::set<std::string> kept;               // names of further files that it keeps
    std::optional<RunDescription> description;
  };
  static std::string to_json(const Identity& run);
  static Identity read_identity(const std::filesystem::path& path);
  friend std::optional<std::filesystem::path> run_of_file(const std::filesystem::path& path);

  std::filesystem::path path_;
  Identity run_;
  int64_t processes_ = 0;
  std::vector<std::string> changes_;
  std::vector<std::string> untold_;  // which rules of an earlier version the run keeps
  struct Changes {
    std::string lines, resolved;  // for changes.txt; the text of resolved.toml
  };
  std::optional<Changes> unkept_;
  std::optional<io::FolderLock> lock_;  // held while a run is trained
};

/// Whether a process trains the run now. Changes nothing. If the file system does not report this, the result is true.
bool is_being_trained(const std::filesystem::path& run);

bool is_run_folder(const std::filesystem::path& path);

/// The folder of the run that a path lies in and belongs to: the run's own files, those that it stores, its
/// checkpoints.
/// Whether there is such a file already does not matter. Nothing for any other path, also one in a run's folder. Links
/// in the path to the folder are followed; a link in the last part of the path is not.
std::optional<std::filesystem::path> run_of_file(const std::filesystem::path& path);

/// How many processes train what the file of a recipe describes: the number of a run for its resolved.toml, else one.
int64_t processes_of_recipe(const std::filesystem::path& path);

/// `<root>/<date>-<name>`, followed by a number if that name exists.
std::filesystem::path new_run_path(const std::filesystem::path& root, const std::string& name);

}  // namespace cachet::train
