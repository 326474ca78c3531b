#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::train {

/// A run's recipe as it was read: the key of each value and the value as TOML.
using RecipeValues = std::map<std::string, std::string>;

RecipeValues recipe_values(const config::Document& document);

/// Whether a value may change when a run is resumed: it sets the length, the frequency or the means of training, and
/// not what has been trained so far. These are the schedule, the run's length and bounds, its saving and logging, its
/// device, the loader's workers, the paper's row, and the folder of the data, which are compared by themselves.
bool may_change_on_resume(const std::string& key);
/// Whether a value is the path of the data and does not choose the data: data.root.
bool is_place_of_data(const std::string& key);

/// These values for a whole step, if parts have states of their own (train.state): train.batch_size, or data.max_tokens
/// and data.max_samples if batches have a number of tokens, are those of a step, and the number of micro-batches of a
/// step is left out. Such a run may be resumed in another spread over processes and micro-batches.
/// All other values, and values of other runs, stay.
RecipeValues values_of_step(RecipeValues values);

/// The name under which values_of_experiment() has the number of parts. It is not a key of a recipe.
inline constexpr const char* kPartsOfStep = "the number of parts of a step";

/// What two runs have in common if they train the same experiment in different spreads: values_of_step(), and
/// kPartsOfStep if parts have states of their own. `processes` train together; each has train.accumulate parts of a
/// step.
RecipeValues values_of_experiment(const RecipeValues& values, int64_t processes);

/// Whether parts of a step have states of their own (train.state).
bool has_parts(const RecipeValues& values);

/// Whether a key is about the spread of a step over processes and micro-batches, if parts have states of their own:
/// train.accumulate, and the size of a micro-batch.
bool is_of_spread(const std::string& key, const RecipeValues& values);

/// How the recipe of a resumed run differs from the one it was made with, a line each: "train.epochs: 10 -> 20". The
/// keys of a paper's row do not count.
struct RecipeChanges {
  std::vector<std::string> allowed, refused;
  std::vector<std::string> allowed_keys{};  // of `allowed`
};
RecipeChanges recipe_changes(const RecipeValues& before, const config::Document& now);

/// The values of a resumed run: of today for those that may change, and of the run's beginning for all others. An
/// option that is newer than the run is not included, so the hash stays that of its checkpoints.
RecipeValues resumed_values(RecipeValues before, const RecipeValues& now);

/// SHA-256 over all values_of_step() that may not change, and over the path of the data: checkpoints of version 0.1.0
/// have it in their hash.
std::string config_hash(const RecipeValues& values);

}  // namespace cachet::train
