#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_options.h"

namespace cachet::nn {

/// softmax(q·kᵀ/√d + bias)·v (Vaswani et al., arXiv 1706.03762, Eq. 1), by ATen's fused kernels where they apply.
/// q (B, H, Lq, d), k (B or 1, H, Lk, d), v (B or 1, H, Lk, e) -> (B, H, Lq, e). A query that may see no key at all
/// gets zeros. dropout: of the weights.
torch::Tensor softmax_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                const AttentionLayout& layout, double dropout = 0.0);

/// The same as an attention function.
class SoftmaxAttention : public Cloneable<SoftmaxAttention, AttentionFunction> {
 public:
  explicit SoftmaxAttention(const SoftmaxOptions& options);

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionLayout& layout) override;

 private:
  SoftmaxOptions options_;
};

}  // namespace cachet::nn
