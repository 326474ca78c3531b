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

/// The model that timm's config.json in the folder of these weights names.
struct TimmModel {
  std::string name;  // "vit_small_patch16_224"
  std::vector<std::string>
      settings{};  // "model.classes=1000", "model.image_size=[224,224]", as far as the file has them
};

/// Nothing if there is no such file, or if it names no model. Throws io::Error for a file that is not JSON, and for
/// sizes that are not whole numbers from 1 to 1,000,000.
std::optional<TimmModel> timm_model(const std::filesystem::path& weights);

/// The names of the classes, in the model's order; empty if that file does not exist, has no names, or has a name
/// twice. `classes`: how many the weights have; -1: any number. Throws io::Error for a file that is not JSON, and for
/// names that are not a list of as many texts.
std::vector<std::string> timm_class_names(const std::filesystem::path& weights, int64_t classes);

}  // namespace cachet::tasks
