#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/training/training_recipe.h"

namespace cachet::app {

/// Returns a file in the folder of timm's config.json for these weights. For weights of the hub, the file is
/// config.json itself, downloaded without the weights; otherwise, it is the weights file. Empty if there is no such
/// file, and for runs and model folders, which have recipes. Throws io::Error if the hub cannot be reached.
std::optional<std::filesystem::path> beside_config_of(const std::string& weights);

/// Returns the arguments with defaults for the preparation of images, from timm's config.json of the weights in
/// train.init (tasks::PreparesImages::preparation_settings). A line on standard error lists the defaults that are used.
/// A resumed job takes them from its run.
TrainArguments with_preparation_of_weights(const TrainArguments& arguments, const TrainingJob& job);

/// Whether this process is the only one of the run, or the first of several.
bool is_first_process();

}  // namespace cachet::app
