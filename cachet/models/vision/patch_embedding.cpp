#include "cachet/models/vision/patch_embedding.h"

#include "cachet/models/map_convolution.h"
#include "cachet/nn/base/initialization.h"

namespace cachet::models {
namespace {

constexpr double kPatchNormEps = 1e-5;  // of PVT, PVT v2 and Swin

}  // namespace

PatchEmbedding::PatchEmbedding(const PatchEmbeddingOptions& o)
    : Cloneable("PatchEmbedding"),
      size_(o.size == 0 ? o.stride : o.size),
      stride_(o.stride),
      padding_(size_ > stride_ ? size_ / 2 : 0) {
  proj_ = register_module("proj", std::make_shared<nn::ModuleGroup>("Conv2d"));
  const auto [weight, bias] = nn::convolution_weights(o.embed_dim, o.channels, size_);
  weight_ = proj_->register_parameter("weight", weight);
  bias_ = proj_->register_parameter("bias", bias);
  if (o.norm) norm_ = register_module("norm", nn::make_norm(*o.norm, o.embed_dim, kPatchNormEps));
}

nn::Grid PatchEmbedding::grid_of(const nn::Grid& map) const {
  const auto along = [&](int64_t side) { return (side + 2 * padding_ - size_) / stride_ + 1; };
  return {along(map.height), along(map.width)};
}

GridTokens PatchEmbedding::forward(const torch::Tensor& map) {
  // Channels densest in, channels densest out: the tokens are then a view of the convolution's result.
  const torch::Tensor patches = convolve_map(map, weight_, bias_, stride_, padding_);
  const torch::Tensor tokens = nn::tokens_of(patches);
  return {norm_ ? norm_->forward(tokens) : tokens, {patches.size(2), patches.size(3)}};
}

std::vector<nn::NormFold> PatchEmbedding::norm_folds() {
  if (!norm_) return {};
  return {nn::fold_into_writer(*this, "norm", norm_, [&](const nn::Affine& after) {
    nn::fold_output_affine("patch_embedding", after, weight_, bias_);
  })};
}

}  // namespace cachet::models
