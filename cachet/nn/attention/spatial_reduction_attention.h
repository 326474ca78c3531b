#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/norm/folding.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {

/// The reduction of the number of keys and values before attention.
enum class ReductionForm {
  convolution,  // a convolution over ratio × ratio tokens, then a norm (PVT, arXiv 2102.12122, Eq. 3–4)
  pooling,      // average pooling to 7 × 7, 1 × 1 convolution, norm, GELU (PVT v2 linear, arXiv 2106.13797, Sec. 3.2)
};

struct SpatialReductionOptions {
  ReductionForm form = ReductionForm::convolution;
  int64_t ratio = 1;  // for `convolution`: side of the squares of tokens that are reduced; 1: no reduction and no norm
  NormOptions norm{};
};

/// Multi-head attention to a context whose grid is reduced first; class tokens only pass through the norm. Parameters:
/// q, kv, proj; with a reduction also sr (convolution) and norm.
class SpatialReductionAttention : public Cloneable<SpatialReductionAttention, MultiHeadAttention>, public Foldable {
 public:
  /// Throws c10::Error for a ratio below 1, and if options.projection is not separate.
  SpatialReductionAttention(const MultiHeadOptions& options, const SpatialReductionOptions& reduction);

  /// Throws c10::Error if a context has no grid, has padding, or is smaller than the ratio.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  /// Makes a memory with as many entries as the reduced context has tokens.
  void concatenate_cache(int64_t tokens, const TokenLayout& layout) override;
  std::shared_ptr<Attention> freeze_cache() const override;
  /// Folds `before`. Afterwards, forward() throws c10::Error for class tokens, because these bypass the convolution.
  void fold_affine_before(const Affine& before) override;
  std::shared_ptr<Attention> with_fixed_context(const torch::Tensor& context, const TokenLayout& layout) const override;
  /// Folds the norm after the convolution into keys and values, or into the 1 × 1 convolution if a GELU comes after it.
  std::vector<NormFold> norm_folds() override;

 private:
  Grid reduced_grid(const Grid& grid) const;
  torch::Tensor reduce(const torch::Tensor& context, TokenLayout& layout) const;

  ReductionForm form_;
  int64_t dim_, ratio_;
  bool folded_ = false;
  Submodule<ModuleGroup> sr_;
  RegisteredTensor weight_, bias_;  // (D, D, ratio, ratio), (D)
  Submodule<Norm> norm_;
};

}  // namespace cachet::nn
