#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// How an image of any size becomes a model's input in evaluation: it is resized to cover image_size / crop_fraction,
/// center-cropped and normalised.
struct Preprocessing {
  data::NormalizationOptions normalization{};
  data::ResizeOptions resize{};
};

/// A plan whose model looks at images.
class PreparesImages {
 public:
  virtual ~PreparesImages() = default;
  virtual Preprocessing preprocessing() const = 0;
  /// The keys of a recipe for the preparation that timm's config.json in the folder of these weights names
  /// ("data.normalization.mean=[0.5, 0.5, 0.5]"), as far as the recipe leaves it to others; none if there is no such
  /// file. Throws as timm_preprocessing() does.
  virtual std::vector<std::string> preparation_settings(const std::filesystem::path& weights) const = 0;
};

/// The keys of a recipe for a preparation: data.normalization.mean and std, data.resize.crop_fraction and
/// interpolation.
std::vector<std::string> normalization_settings(const data::NormalizationOptions& normalization);
std::vector<std::string> resize_settings(const data::ResizeOptions& resize);

/// Mean and deviation for images of one channel or three; what fits neither is left to the recipe.
data::NormalizationOptions normalization_options(const data::Normalization& normalization, int64_t channels);

/// That of whoever published the weights, by their names: mean and deviation of ImageNet, but 0.5 for timm's ViTs,
/// which were trained on ImageNet-21k; of the shorter side 7/8, but 0.9 in timm and T2T-ViT; bicubic. `image` is the
/// model's: one channel has the mean of the three.
Preprocessing published_preprocessing(io::NameSource source, std::string_view model, const models::ImageShape& image);

/// The preprocessing for the weights of a file or folder: for a run or model folder, or a model folder's weights, its
/// own; otherwise that of timm's config.json next to the file (weights/timm_config.h); otherwise the published one.
/// Throws io::Error for a config.json that cannot be read, and for one that asks for what is not supported.
Preprocessing preprocessing_of(const std::filesystem::path& weights, io::NameSource source,
                               const models::ImageClassifierPlan& model);

/// Reads the part of [data] that belongs to a model and not to a folder of images: kind (class folders by default),
/// class_names, classes, channels, and the tables normalization and resize. What is read is in the
/// document's resolved text.
Preprocessing read_preprocessing(const config::View& data, const models::ImageClassifierPlan& model,
                                 const Preprocessing& defaults);

/// "resized to 256 (bicubic), middle 224, mean 0.485 0.456 0.406, deviation 0.229 0.224 0.225"; of a size that is not
/// square "resized to cover 219 x 292 (bicubic), middle 192 x 256, …".
std::string to_text(const Preprocessing& preprocessing);

/// {"mean":[0.485,0.456,0.406],"std":[…],"crop_fraction":0.875,"interpolation":"bicubic"}: mean and std null where the
/// images of the model are neither grey nor RGB.
std::string to_json(const Preprocessing& preprocessing);

}  // namespace cachet::tasks
