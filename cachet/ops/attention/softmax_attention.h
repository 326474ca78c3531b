#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// The keys that a query sees, and the bias of its scores.
struct SoftmaxMask {
  at::Tensor bias{};     // broadcastable to (B, H, Lq, Lk); undefined = no bias
                         // If the bias's first dimension W divides B, sample b uses the bias b mod W: an image's
                         // windows are consecutive samples.
  at::Tensor padding{};  // (B or 1, Lk) bool, true = a key that no query sees; undefined = no such key
  bool causal = false;   // query i sees the keys j ≤ i + Lk − Lq
};

/// Returns softmax(q·kᵀ/√d + bias)·v (Vaswani et al., arXiv 1706.03762, Eq. 1). Chooses the fastest form for the sizes
/// of q, k and v: block_attention(), two products and attention_weights(), or ATen's fused attention. q (B, H, Lq, d),
/// k (B or 1, H, Lk, d), v (B or 1, H, Lk, e) -> (B, H, Lq, e). A query that sees no key gets zeros. `dropout`: the
/// dropout rate of the attention weights. Differentiable in q, k, v and bias.
at::Tensor softmax_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const SoftmaxMask& mask,
                             double dropout = 0.0);

}  // namespace cachet::ops
