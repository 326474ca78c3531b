#pragma once

#include <torch/nn/module.h>

#include <array>
#include <memory>

#include "cachet/models/vision/patch_embedding.h"
#include "cachet/models/vision/t2t_vision_transformer_options.h"
#include "cachet/nn/attention/attention.h"
#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/layers/feed_forward.h"
#include "cachet/nn/norm/folding.h"

namespace cachet::models {

/// Overlapping patches of a map, each flattened channel by channel: (B, C, H, W) -> tokens of C·size² channels. Patches
/// extend beyond the border (zeros) by half of their overlap.
struct SoftSplit {
  int64_t size, stride;
  int64_t border() const { return (size - stride + 1) / 2; }
  GridTokens of(const torch::Tensor& map) const;
  nn::Grid grid_of(const nn::Grid& map) const;
};

/// The layers between two soft splits: x' = attn(norm1(x)), y = x' + mlp(norm2(x')). Parts: norm1, attn, norm2, mlp.
class TokenStage : public nn::Cloneable<TokenStage>, public nn::Foldable {
 public:
  TokenStage(const T2tVisionTransformerOptions& model, int64_t dim);
  GridTokens forward(const GridTokens& x);  // (B, L, dim) -> (B, L, token_dim)
  std::vector<nn::NormFold> norm_folds() override;

 private:
  nn::Submodule<nn::Norm> norm1_, norm2_;
  nn::Submodule<nn::Attention> attn_;
  nn::Submodule<nn::FeedForward> mlp_;
};

/// The tokens-to-token module (arXiv 2101.11986, Sec. 3.1): three soft splits with attention between them, then a
/// projection. Parts: attention1, attention2, project.
class TokensToToken : public nn::Cloneable<TokensToToken> {
 public:
  explicit TokensToToken(const T2tVisionTransformerOptions& options);
  GridTokens forward(const torch::Tensor& images);  // (B, C, H, W) -> (B, H'·W', embed_dim)

  nn::Grid grid_of(const nn::Grid& image) const;

 private:
  std::array<SoftSplit, 3> splits_;
  nn::Submodule<TokenStage> attention1_, attention2_;
  nn::Submodule<nn::Linear> project_;
};

}  // namespace cachet::models
