#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/image_classification/preprocessing.h"

namespace cachet::tasks {

// The config.json that timm writes next to weights. The file is not trusted. Image settings are in `pretrained_cfg` or,
// in the older form, at the top level: mean, std, crop_pct, crop_mode, interpolation. Classes are in label_names.

/// Returns `defaults` with the image settings of the config.json that timm wrote in the folder of `weights`. Returns an
/// empty value if there is no config.json, or if another program wrote it. Throws io::Error if the file is not JSON, or
/// if a value is invalid or not supported; the error names the key.
std::optional<Preprocessing> timm_preprocessing(const std::filesystem::path& weights, const Preprocessing& defaults,
                                                int64_t channels);

/// A model, as described in the config.json that timm wrote next to a file of weights.
struct TimmModel {
  std::string name;                     // "vit_small_patch16_224"
  std::vector<std::string> settings{};  // settings such as "model.classes=1000", if the file has them
};

/// Reads the model. Returns an empty value if there is no config.json, or if it names no model. Throws io::Error if the
/// file is not JSON, or if sizes are not integers from 1 to 1,000,000.
std::optional<TimmModel> timm_model(const std::filesystem::path& weights);

/// Returns the class names in timm's config.json, in the model's order. Returns no names if there is no such file, or
/// if a recipe cannot hold the file's names (data::can_be_stored). `classes` is the number of classes of the weights,
/// or -1 for any number. Throws io::Error if the file is not JSON, or if the names are not a list of `classes` texts.
std::vector<std::string> timm_class_names(const std::filesystem::path& weights, int64_t classes);

}  // namespace cachet::tasks
