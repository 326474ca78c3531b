#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/models/vision/image_model.h"

namespace cachet::models {

/// A backbone for dense prediction. From each stage to the next, a token of the backbone represents a larger patch of
/// the image.
class FeaturePyramid : public virtual ImageModel {
 public:
  /// images (B, C, H, W) -> one map for each stage (B, stage channels, ⌈H/stride⌉, ⌈W/stride⌉), in channels_last.
  virtual std::vector<at::Tensor> features(const at::Tensor& images) = 0;
  virtual std::vector<int64_t> feature_channels() const = 0;
  virtual std::vector<int64_t> feature_strides() const = 0;  // 4, 8, 16, 32 for patches of 4

  /// In the returned Trial, `forward` returns the last feature map. The loss is the sum, over all feature maps, of the
  /// mean of the squared values of a map.
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;
};

struct FeaturePyramidPlan {
  std::string name;
  ImageShape image;
  std::vector<int64_t> strides;  // strides of the maps
  std::function<std::shared_ptr<FeaturePyramid>()> build;

  operator ModelPlan() const { return {name, input_of(image), build}; }
};

/// Returns the strides of stages: patch_size for the first stage, then doubled at each further stage.
std::vector<int64_t> halving_strides(int64_t patch_size, size_t stages);

}  // namespace cachet::models
