#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>

namespace cachet::models {

/// Cuts an image into patches and maps each to a token: (B, C, H, W) -> (B, H/p · W/p, D), row by row. Part: proj.
class PatchEmbedding : public torch::nn::Module {
 public:
  PatchEmbedding(int64_t channels, int64_t patch_size, int64_t embed_dim);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::nn::Conv2d proj_{nullptr};
};

}  // namespace cachet::models
