#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/tasks/weights/weight_import.h"

namespace cachet::tasks {

/// Returns a setting "key=value" for the recipe of a model folder: the class names of the weights that were imported
/// from the file. The class names come from the file's model folder, or else from timm's config.json next to the
/// file. Returns no settings if there are no class names, or if the layers that score classes start with random
/// weights, because the classes of the model then differ from the classes of the file. `classes` is the number of the
/// model's classes, or 0 if it does not classify. Throws io::Error if the model folder or timm's config.json cannot
/// be read.
std::vector<std::string> source_class_names(const std::filesystem::path& path, const WeightImportReport& report,
                                            int64_t classes);

}  // namespace cachet::tasks
