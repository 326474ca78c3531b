#include "cachet/models/vision/patch_embedding.h"

namespace cachet::models {

PatchEmbedding::PatchEmbedding(int64_t channels, int64_t patch_size, int64_t embed_dim)
    : torch::nn::Module("PatchEmbedding") {
  proj_ = register_module(
      "proj", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, embed_dim, patch_size).stride(patch_size)));
}

torch::Tensor PatchEmbedding::forward(const torch::Tensor& images) {
  return proj_->forward(images).flatten(2).transpose(1, 2);
}

}  // namespace cachet::models
