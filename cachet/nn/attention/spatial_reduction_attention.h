#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/norm/folding.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {

/// How keys and values are made fewer before they are attended to.
enum class ReductionForm {
  convolution,  // ratio × ratio tokens to one by a convolution, then a norm (PVT, arXiv 2102.12122, Eq. 3–4)
  pooling,      // average pooling to 7 × 7, 1 × 1 convolution, norm, GELU (PVT v2 linear, arXiv 2106.13797, Sec. 3.2)
};

struct SpatialReductionOptions {
  ReductionForm form = ReductionForm::convolution;
  int64_t ratio = 1;  // of `convolution`: 1 leaves the context as it is, without a norm
  NormOptions norm{};
};

/// Multi-head attention to a context whose grid is reduced first; class tokens stay as they are, but for the norm.
/// Parameters: q, kv, proj, and where there is a reduction sr (convolution), norm.
class SpatialReductionAttention : public Cloneable<SpatialReductionAttention, MultiHeadAttention>, public Foldable {
 public:
  /// Throws c10::Error for a ratio below 1, and for options.projection other than separate.
  SpatialReductionAttention(const MultiHeadOptions& options, const SpatialReductionOptions& reduction);

  /// Throws c10::Error for a context without a grid, with padding, or smaller than the ratio.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  /// The memory has as many entries as the reduced context has tokens.
  void concatenate_cache(int64_t tokens, const TokenLayout& layout) override;
  std::shared_ptr<Attention> freeze_cache() const override;
  /// Not for contexts with class tokens: these pass the convolution by.
  void fold_affine_before(const Affine& before) override;
  std::shared_ptr<Attention> with_fixed_context(const torch::Tensor& context, const TokenLayout& layout) const override;
  /// The norm after the convolution: into keys and values, or into the 1 × 1 convolution if GELU is between.
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
