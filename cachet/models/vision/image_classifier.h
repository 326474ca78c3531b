#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/models/vision/image_model.h"

namespace cachet::models {

/// A model that maps images to class scores.
class ImageClassifier : public virtual ImageModel {
 public:
  /// Returns the logits of normalised images: (B, C, H, W) -> (B, classes).
  virtual torch::Tensor forward(const torch::Tensor& images) = 0;
  virtual int64_t classes() const = 0;

  Trial trial(int64_t batch, const torch::TensorOptions& options) override;
};

struct ImageClassifierPlan {
  std::string name;
  ImageShape image;
  int64_t classes = 0;
  std::function<std::shared_ptr<ImageClassifier>()> build;

  operator ModelPlan() const { return {name, input_of(image), build}; }
};

/// The values of an image data set that are the default values of `[model]` keys in a recipe.
struct ImageDefaults {
  std::optional<ImageShape> image{};
  std::optional<int64_t> classes{};
};

}  // namespace cachet::models
