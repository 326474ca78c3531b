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

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context,
                        const AttentionLayout& layout) override;
  /// Of the query: there is no other input.
  void absorb(const Affine& before) override { absorb_into_query(before); }
  void absorb_into_query(const Affine& before) override;
  void absorb_behind(const Affine& after) override { proj_->absorb_behind(after); }

  OwnTensor keys, values;

 private:
  Part<Linear> q_, proj_;
  Part<AttentionFunction> function_;
  TokenLayout context_;
};

}  // namespace cachet::nn
