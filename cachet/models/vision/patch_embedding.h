#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/layout.h"
#include "cachet/nn/norm/folding.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::models {

struct PatchEmbeddingOptions {
  int64_t channels = 3, embed_dim = 0;
  int64_t stride = 16;                       // distance between patches, in pixels or in tokens of the previous stage
  int64_t size = 0;                          // side of a patch; 0: the stride; above the stride, patches overlap
  std::optional<nn::NormOptions> norm = {};  // norm after the projection (ε 1e-5), if set; NoNormOptions is also a norm
};

/// Tokens and the grid on which they lie.
struct GridTokens {
  torch::Tensor tokens;  // (B, H·W, D)
  nn::Grid grid;
};

/// Cuts a map into patches and maps each to a token: (B, C, H, W) -> (B, H/s · W/s, D), row by row. Overlapping patches
/// extend beyond the border by half of their size, so that no row or column is lost. Parts: proj, norm.
class PatchEmbedding : public nn::Cloneable<PatchEmbedding>, public nn::Foldable {
 public:
  explicit PatchEmbedding(const PatchEmbeddingOptions& options);
  GridTokens forward(const torch::Tensor& map);
  /// Returns the NormFold that merges the norm into the projection before it.
  std::vector<nn::NormFold> norm_folds() override;

  /// Returns the grid of the tokens for a map of the size `map`.
  nn::Grid grid_of(const nn::Grid& map) const;

 private:
  int64_t size_, stride_, padding_;
  nn::Submodule<nn::ModuleGroup> proj_;
  nn::RegisteredTensor weight_, bias_;  // (D, C, size, size), (D)
  nn::Submodule<nn::Norm> norm_;
};

}  // namespace cachet::models
