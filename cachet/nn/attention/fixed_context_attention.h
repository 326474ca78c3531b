#pragma once

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

struct FixedContextParts {
  std::shared_ptr<Linear> q, proj;
  std::shared_ptr<AttentionFunction> function;
  torch::Tensor keys, values;  // (B or 1, H, Lk, d)
  TokenLayout context;         // how these tokens lie
};

/// Multi-head attention to a context that is always the same: its keys and values are constants. For evaluation.
/// Parameters: q, proj; buffers: keys, values. What forward() is given as a context is not looked at.
class FixedContextAttention : public Cloneable<FixedContextAttention, Attention> {
 public:
  explicit FixedContextAttention(FixedContextParts parts);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  /// Of the query: there is no other input.
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
