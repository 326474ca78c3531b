#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/training/training_recipe.h"

namespace cachet::app {

/// A file in the folder that has timm's config.json of these weights: of the hub that file, which is downloaded without
/// the weights, and else the weights themselves. Nothing if there is no such file, and for runs and model folders,
/// which have recipes. Throws io::Error if the hub cannot be asked.
std::optional<std::filesystem::path> beside_config_of(const std::string& weights);

/// The arguments with defaults for the preparation of images that timm's config.json of the weights in train.init names
/// (tasks::PreparesImages::preparation_settings). A line on standard error lists those that the recipe leaves open. A
/// job that resumes takes them from its run.
TrainArguments with_preparation_of_weights(const TrainArguments& arguments, const TrainingJob& job);

/// Whether this is the only process of the run, or the first of several.
bool is_first_process();

}  // namespace cachet::app
