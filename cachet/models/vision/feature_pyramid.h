#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/models/vision/image_model.h"

namespace cachet::models {

/// A backbone of stages, each of which looks at the image through larger patches: what dense prediction builds on.
class FeaturePyramid : public virtual ImageModel {
 public:
  /// images (B, C, H, W) -> one map a stage (B, channels of the stage, ⌈H/stride⌉, ⌈W/stride⌉), in channels_last.
  virtual std::vector<at::Tensor> features(const at::Tensor& images) = 0;
  virtual std::vector<int64_t> feature_channels() const = 0;
  virtual std::vector<int64_t> feature_strides() const = 0;  // 4, 8, 16, 32 for patches of 4

  /// `forward` gives the last map; the loss is the mean square of all of them.
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;
};

struct FeaturePyramidPlan {
  std::string name;
  ImageShape image;
  std::vector<int64_t> strides;  // of its maps
  std::function<std::shared_ptr<FeaturePyramid>()> build;

  operator ModelPlan() const { return {name, input_of(image), build}; }
};

/// Strides of stages that each halve both sides of the one before, the first by patches of patch_size.
std::vector<int64_t> halving_strides(int64_t patch_size, size_t stages);

}  // namespace cachet::models
