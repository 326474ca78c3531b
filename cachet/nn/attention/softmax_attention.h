#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_options.h"

namespace cachet::nn {

/// softmax(q·kᵀ/√d + bias)·v (Vaswani et al., arXiv 1706.03762, Eq. 1), by ATen's fused kernels where they apply.
/// A query that may see no key at all gets zeros.
class SoftmaxAttention : public AttentionFunction {
 public:
  explicit SoftmaxAttention(const SoftmaxOptions& options);

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionLayout& layout) override;

 private:
  SoftmaxOptions options_;
};

}  // namespace cachet::nn
