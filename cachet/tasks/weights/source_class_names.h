#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/tasks/weights/weight_import.h"

namespace cachet::tasks {

/// "key=value" for the recipe of a model folder: the names of the classes of the weights that were imported from the
/// file. Those of the model folder that the file belongs to, else of timm's config.json next to it
/// (weights/timm_config.h). Nothing if neither has them, or if the layers that score classes started fresh, because the
/// model's classes are then others. `classes`: how many the model has, 0 if it does not classify. Throws
/// io::Error as these do.
std::vector<std::string> source_class_names(const std::filesystem::path& path, const WeightImportReport& report,
                                            int64_t classes);

}  // namespace cachet::tasks
