#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/image_classification/preprocessing.h"

namespace cachet::tasks {

// The config.json that timm writes next to weights, which anybody may have written. Images are under `pretrained_cfg`
// or, in the older form, at the top level: mean, std, crop_pct, crop_mode, interpolation. Classes are in label_names.

/// `defaults` with the image settings of timm's config.json in the folder of these weights. Nothing if there is no such
/// file, or if it is another program's. Throws io::Error for a file that is not JSON, and names the key for a value
/// that timm does not write and for one that is not supported.
std::optional<Preprocessing> timm_preprocessing(const std::filesystem::path& weights, const Preprocessing& defaults,
                                                int64_t channels);

/// The names of the classes, in the model's order; empty if that file does not exist, has no names, or has a name
/// twice. `classes`: how many the weights have. Throws io::Error for a file that is not JSON, and for names that are
/// not a list of as many texts.
std::vector<std::string> timm_class_names(const std::filesystem::path& weights, int64_t classes);

}  // namespace cachet::tasks
