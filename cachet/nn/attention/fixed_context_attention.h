#pragma once

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

struct FixedContextParts {
  std::shared_ptr<Linear> q, proj;
  std::shared_ptr<AttentionFunction> function;
  torch::Tensor keys, values;  // (B or 1, H, Lk, d)
  TokenLayout context;         // layout of the context's tokens
};

/// Multi-head attention to a constant context, for evaluation. The keys and values of the constant context are buffers
/// of the module. Parameters: q, proj; buffers: keys, values. forward() ignores its argument `context`.
class FixedContextAttention : public Cloneable<FixedContextAttention, Attention> {
 public:
  explicit FixedContextAttention(FixedContextParts parts);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  /// Folds the affine map `before` into the query's projection: the query is the layer's only input.
  void fold_affine_before(const Affine& before) override { fold_affine_into_query(before); }
  void fold_affine_into_query(const Affine& before) override;
  void fold_affine_after(const Affine& after) override { proj_->fold_affine_after(after); }

  RegisteredTensor keys, values;

 private:
  Submodule<Linear> q_, proj_;
  Submodule<AttentionFunction> function_;
  TokenLayout context_;
};

}  // namespace cachet::nn
