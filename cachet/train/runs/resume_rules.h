#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::train {

/// The values of a recipe as a map from each key to its value in TOML.
using RecipeValues = std::map<std::string, std::string>;

RecipeValues recipe_values(const config::Document& document);

/// Returns whether a value may change when a run is resumed, because the value does not affect the steps trained so
/// far. Values that may change are the schedule, the run's length, limits, saving, logging and device, the loader's
/// workers, the paper's row, and the folder of the data. Whether the data themselves differ is checked separately.
bool may_change_on_resume(const std::string& key);
/// Whether a key, such as data.root, has only the path of the data and does not determine which data are used.
bool is_place_of_data(const std::string& key);

/// If parts have their own states (train.state), returns the values of a whole step: train.batch_size (or
/// data.max_tokens and data.max_samples if batches have a number of tokens) applies to a whole step, and the number of
/// micro-batches is left out. A run whose parts have their own states may be resumed with another distribution over
/// processes and micro-batches. All other values do not change. If parts have no states of their own, no value changes.
RecipeValues values_of_step(RecipeValues values);

/// The key of the number of parts in values_of_experiment(). Recipes have no such key.
inline constexpr const char* kPartsOfStep = "the number of parts of a step";

/// Returns the values that are equal in two runs of the same experiment even if the runs distribute a step differently
/// over processes and micro-batches: values_of_step(), and kPartsOfStep if parts have their own states. The run is
/// trained by `processes` processes; each has train.accumulate parts of a step.
RecipeValues values_of_experiment(const RecipeValues& values, int64_t processes);

/// Whether the parts of a step have their own states (train.state).
bool has_parts(const RecipeValues& values);

/// Whether a key determines how a step is distributed over processes and micro-batches (train.accumulate, or the size
/// of a micro-batch) in a run whose parts have their own states.
bool is_of_spread(const std::string& key, const RecipeValues& values);

/// The differences between the recipe of a resumed run and the run's original recipe, one in each line: "train.epochs:
/// 10 -> 20". If only the keys of the paper's row differ, there is no difference to report.
struct RecipeChanges {
  std::vector<std::string> allowed, refused;
  std::vector<std::string> allowed_keys{};  // keys of `allowed`
};
RecipeChanges recipe_changes(const RecipeValues& before, const config::Document& now);

/// Returns the values of a resumed run: new values for keys that may change, and original values for all other keys. An
/// option that is newer than the run is left out, so that the hash equals the hash in the run's checkpoints.
RecipeValues resumed_values(RecipeValues before, const RecipeValues& now);

/// Returns the SHA-256 of all values_of_step() that may not change, and of the path of the data. The hash includes the
/// path of the data because the hash in checkpoints of version 0.1.0 includes it.
std::string config_hash(const RecipeValues& values);

}  // namespace cachet::train
