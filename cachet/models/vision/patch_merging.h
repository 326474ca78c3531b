#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "cachet/models/vision/patch_embedding.h"
#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/base/memoized.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/layers/token_permutation.h"
#include "cachet/nn/norm/folding.h"

namespace cachet::models {

/// Swin's step to the next stage (arXiv 2103.14030, Sec. 3.1): joins the channels of four neighbours, then applies a
/// norm and a linear map to twice the channels. If a side of the map is odd, one row or column of zeros is added.
/// Parts: norm, reduction.
class PatchMerging : public nn::Cloneable<PatchMerging>, public nn::Foldable {
 public:
  PatchMerging(int64_t dim, const nn::NormOptions& norm);
  GridTokens forward(const GridTokens& x);  // (B, H·W, D) -> (B, ⌈H/2⌉·⌈W/2⌉, 2·D)
  std::vector<nn::NormFold> norm_folds() override;

 private:
  struct Order {
    nn::Grid grid;
    nn::TokenPermutation permutation;
  };
  nn::Memoized<Order> order_;
  nn::Submodule<nn::Norm> norm_;
  nn::Submodule<nn::Linear> reduction_;
};

}  // namespace cachet::models
