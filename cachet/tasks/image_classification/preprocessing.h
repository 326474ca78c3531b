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

/// The steps from an image of any size to a model's input in evaluation: resize to cover image_size / crop_fraction,
/// crop the center, normalise.
struct Preprocessing {
  data::NormalizationOptions normalization{};
  data::ResizeOptions resize{};
};

/// A plan whose model takes images.
class PreparesImages {
 public:
  virtual ~PreparesImages() = default;
  virtual Preprocessing preprocessing() const = 0;
  /// Returns the preparation in timm's config.json next to `weights`, as settings such as
  /// "data.normalization.mean=[…]". Leaves out data.normalization if the recipe sets it, and data.resize if all images
  /// have one size. If there is no config.json, returns an empty list. Throws the errors of timm_preprocessing().
  virtual std::vector<std::string> preparation_settings(const std::filesystem::path& weights) const = 0;
};

/// Return the settings of a recipe for a preparation: data.normalization.mean and std, data.resize.crop_fraction and
/// interpolation.
std::vector<std::string> normalization_settings(const data::NormalizationOptions& normalization);
std::vector<std::string> resize_settings(const data::ResizeOptions& resize);

/// Returns mean and deviation for images of one or three channels. If images have neither one nor three channels,
/// returns empty lists, and the recipe determines mean and deviation.
data::NormalizationOptions normalization_options(const data::Normalization& normalization, int64_t channels);

/// Returns the preprocessing of the publisher of the weights. Mean and deviation are ImageNet's, but 0.5 for timm's
/// ViTs, which were trained on ImageNet-21k. The crop fraction is 0.9 for T2T-ViT and timm's models except DeiT, and
/// 7/8 for other models. The interpolation is bicubic. `image` is the image shape of the model. For images with a
/// single channel, mean and deviation are averaged over the three colours.
Preprocessing published_preprocessing(io::NameSource source, std::string_view model, const models::ImageShape& image);

/// Returns the preprocessing for the weights of a file or folder. The function uses the first of the following sources
/// that exists: the run or model folder to which the weights belong; timm's config.json next to the file
/// (weights/timm_config.h); published_preprocessing(). Throws io::Error if config.json cannot be read, or asks for
/// something that is not supported.
Preprocessing preprocessing_of(const std::filesystem::path& weights, io::NameSource source,
                               const models::ImageClassifierPlan& model);

/// Reads the part of [data] that belongs to a model and not to a folder of images: kind (class folders by default),
/// class_names, classes, channels, and the tables normalization and resize. Adds the values that it reads to the
/// document's resolved text (the recipe with all values).
Preprocessing read_preprocessing(const config::View& data, const models::ImageClassifierPlan& model,
                                 const Preprocessing& defaults);

/// Returns "resized to 256 (bicubic), center crop 224, mean 0.485 0.456 0.406, deviation 0.229 0.224 0.225". If the
/// size is not square, returns "resized to cover 219 x 292 (bicubic), center crop 192 x 256, …".
std::string to_text(const Preprocessing& preprocessing);

/// Returns {"mean":[0.485,0.456,0.406],"std":[…],"crop_fraction":0.875,"interpolation":"bicubic"}. mean and std are
/// null if the images of the model are neither grey nor RGB.
std::string to_json(const Preprocessing& preprocessing);

}  // namespace cachet::tasks
