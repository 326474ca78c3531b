#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/norm/folding.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {

/// The operation that reduces the number of keys and values before attention.
enum class ReductionForm {
  convolution,  // a convolution over ratio × ratio tokens, then a norm (PVT, arXiv 2102.12122, Eq. 3–4)
  pooling,      // average pooling to 7 × 7, 1 × 1 convolution, norm, GELU (PVT v2 linear, arXiv 2106.13797, Sec. 3.2)
};

struct SpatialReductionOptions {
  ReductionForm form = ReductionForm::convolution;
  int64_t ratio = 1;  // for `convolution`: side of the squares that are reduced to one token; 1: no reduction, no norm
  NormOptions norm{};
};

/// Multi-head attention that first reduces the grid of the context's tokens. Class tokens are not reduced: only the
/// norm is applied to them. Parameters: q, kv, proj; with a reduction also sr (convolution) and norm.
class SpatialReductionAttention : public Cloneable<SpatialReductionAttention, MultiHeadAttention>, public Foldable {
 public:
  /// Throws c10::Error if the ratio of the spatial reduction is below 1, or if options.projection is not separate.
  SpatialReductionAttention(const MultiHeadOptions& options, const SpatialReductionOptions& reduction);

  /// Throws c10::Error if the context has no grid, has padding, or is smaller than the ratio.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  /// Adds a cache with one entry for each token of the reduced context.
  void concatenate_cache(int64_t tokens, const TokenLayout& layout) override;
  std::shared_ptr<Attention> freeze_cache() const override;
  /// Folds `before` into the layer. After this call, forward() throws c10::Error if there are class tokens, because
  /// class tokens bypass the convolution.
  void fold_affine_before(const Affine& before) override;
  std::shared_ptr<Attention> with_fixed_context(const torch::Tensor& context, const TokenLayout& layout) const override;
  /// Without a GELU after the norm (ReductionForm::convolution), the norm is folded into the layers for keys and
  /// values. With a GELU (ReductionForm::pooling), the norm is folded into the preceding 1 × 1 convolution.
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
