#include "cachet/models/vision/feature_pyramid.h"

#include <ATen/TensorOperators.h>

#include "cachet/nn/cache/reset_caches.h"

namespace cachet::models {

Trial FeaturePyramid::trial(int64_t batch, const torch::TensorOptions& options) {
  nn::fill_caches(*this);
  const at::Tensor images = noise(batch, options);
  return {[this, images] { return features(images).back(); },
          [this, images] {
            at::Tensor loss;
            for (const at::Tensor& map : features(images))
              loss = loss.defined() ? loss + map.square().mean() : map.square().mean();
            return with_penalty(loss);
          }};
}

std::vector<int64_t> halving_strides(int64_t patch_size, size_t stages) {
  std::vector<int64_t> strides;
  for (size_t i = 0; i < stages; ++i) strides.push_back(patch_size << i);
  return strides;
}

}  // namespace cachet::models
