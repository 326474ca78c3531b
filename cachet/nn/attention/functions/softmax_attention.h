#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"

namespace cachet::nn {

/// Scaled dot product attention with softmax.
struct SoftmaxOptions {
  double dropout = 0.0;  // dropout rate of the attention weights

  static const AttentionFunctionKind<SoftmaxOptions> kKind;
};

/// Returns softmax(q·kᵀ/√d + bias)·v (Vaswani et al., arXiv 1706.03762, Eq. 1). Uses ATen's fused kernels if possible.
/// q (B, H, Lq, d), k (B or 1, H, Lk, d), v (B or 1, H, Lk, e) -> (B, H, Lq, e). A query that sees no key gets zeros.
/// `dropout`: the dropout rate of the attention weights.
torch::Tensor softmax_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                const AttentionArgs& args, double dropout = 0.0);

/// softmax_attention() as an attention function.
class SoftmaxAttention : public Cloneable<SoftmaxAttention, AttentionFunction> {
 public:
  explicit SoftmaxAttention(const SoftmaxOptions& options);
  bool queries_stand_alone() const override { return true; }

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionArgs& args) override;

 private:
  SoftmaxOptions options_;
};

}  // namespace cachet::nn
