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
/// far. The schedule, the run's length, limits, saving, logging and device, the loader's workers, the paper's row, and
/// the folder of the data may change on a resume. RunFolder::require_same_data() checks whether the data differ.
bool may_change_on_resume(const std::string& key);
/// Whether a value may change as may_change_on_resume() describes, but only in one direction: data.on_bad_image from
/// "stop" to "skip". A run that has not stopped has met no bad image, so its steps do not depend on the value.
bool may_change_on_resume(const std::string& key, const std::string& before, const std::string& now);
/// Whether a key, such as data.root, gives only the path of the data: the same data may have another path.
bool is_place_of_data(const std::string& key);

/// If the parts of a step have their own states (train.state), returns the values with the sizes of a whole step:
/// multiplies train.batch_size (or data.max_tokens and data.max_samples if batches have a number of tokens) by
/// train.accumulate, and removes train.accumulate. A resume may distribute the parts of a step differently over
/// processes and micro-batches. If the parts of a step do not have their own states, returns `values` unchanged.
RecipeValues values_of_step(RecipeValues values);

/// The key under which values_of_experiment() has the number of parts of a step. Recipes have no such key.
inline constexpr const char* kPartsOfStep = "the number of parts of a step";

/// Returns the values that are equal in two runs of the same experiment even if the runs distribute a step differently
/// over processes and micro-batches: values_of_step(), and kPartsOfStep if the parts of a step have their own states.
/// The run is trained by `processes` processes; each has train.accumulate parts of a step.
RecipeValues values_of_experiment(const RecipeValues& values, int64_t processes);

/// Whether the parts of a step have their own states (train.state).
bool has_parts(const RecipeValues& values);

/// Whether `key` (train.accumulate, or the size of a micro-batch) determines how the parts of a step are distributed
/// over processes and micro-batches. If the parts of a step do not have their own states, returns false.
bool is_of_spread(const std::string& key, const RecipeValues& values);

/// The differences between the recipe of a resumed run and the run's original recipe, one in each line: "train.epochs:
/// 10 -> 20". Differences in the keys of the table [paper] are left out.
struct RecipeChanges {
  std::vector<std::string> allowed, refused;
  std::vector<std::string> allowed_keys{};  // keys of `allowed`
};
RecipeChanges recipe_changes(const RecipeValues& before, const config::Document& now);

/// Returns the values of a resumed run: new values for keys that may change, and original values for all other keys.
/// Leaves out options that are newer than the run, so that the returned values have the hash of the run's checkpoints.
RecipeValues resumed_values(RecipeValues before, const RecipeValues& now);

/// Returns the SHA-256 of all values of values_of_step() that may not change on a resume, and of the path of the data.
/// The hash covers the path of the data because the hash in checkpoints of version 0.1.0 also covers it.
std::string config_hash(const RecipeValues& values);
/// Whether a checkpoint whose recipe has the hash `hash` may continue with these values: `hash` is that of `values`, or
/// that of the values before a change that may_change_on_resume() allows in one direction.
bool fits_checkpoint(const RecipeValues& values, const std::string& hash);

}  // namespace cachet::train
