#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::train {

/// The values of a recipe that was read: keys, and values as TOML.
using RecipeValues = std::map<std::string, std::string>;

RecipeValues recipe_values(const config::Document& document);

/// Whether a value may change when a run is resumed, because it does not affect the steps trained so far. Such values
/// are the schedule, the run's length and limits, its saving and logging, its device, the loader's workers, the paper's
/// row, and the folder of the data; the data are compared separately.
bool may_change_on_resume(const std::string& key);
/// Whether a value is only the path of the data and does not select data: data.root.
bool is_place_of_data(const std::string& key);

/// Returns the values for a whole step, if parts have states of their own (train.state): train.batch_size, or
/// data.max_tokens and data.max_samples if batches have a number of tokens, are those of a step, and the number of
/// micro-batches of a step is left out. Such a run may be resumed with another distribution over processes and
/// micro-batches. All other values, and values of other runs, do not change.
RecipeValues values_of_step(RecipeValues values);

/// The key of the number of parts in values_of_experiment(). It is not a key of a recipe.
inline constexpr const char* kPartsOfStep = "the number of parts of a step";

/// Returns the common values of two runs that train the same experiment in different distributions: values_of_step(),
/// and kPartsOfStep if parts have states of their own. `processes` train together; each has train.accumulate parts of a
/// step.
RecipeValues values_of_experiment(const RecipeValues& values, int64_t processes);

/// Whether parts of a step have states of their own (train.state).
bool has_parts(const RecipeValues& values);

/// Whether a key determines the distribution of a step over processes and micro-batches, if parts have states of their
/// own: train.accumulate, and the size of a micro-batch.
bool is_of_spread(const std::string& key, const RecipeValues& values);

/// The differences between the recipe of a resumed run and its original recipe, a line each: "train.epochs: 10 -> 20".
/// The keys of a paper's row do not count.
struct RecipeChanges {
  std::vector<std::string> allowed, refused;
  std::vector<std::string> allowed_keys{};  // keys of `allowed`
};
RecipeChanges recipe_changes(const RecipeValues& before, const config::Document& now);

/// Returns the values of a resumed run: the new ones for values that may change, and the original ones for all others.
/// An option that is newer than the run is left out, so that the hash stays that of its checkpoints.
RecipeValues resumed_values(RecipeValues before, const RecipeValues& now);

/// Returns the SHA-256 of all values_of_step() that may not change, and of the path of the data, which is part of the
/// hash in checkpoints of version 0.1.0.
std::string config_hash(const RecipeValues& values);

}  // namespace cachet::train
