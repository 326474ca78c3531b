#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::models {

/// What images a model is made for.
struct ImageShape {
  int64_t channels = 3, height = 224, width = 224;
};

/// A model from images to class scores.
class ImageClassifier : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;
  /// images (B, C, H, W), normalised -> logits (B, classes)
  virtual torch::Tensor forward(const torch::Tensor& images) = 0;
  virtual ImageShape image_shape() const = 0;
  virtual int64_t classes() const = 0;
};

}  // namespace cachet::models
