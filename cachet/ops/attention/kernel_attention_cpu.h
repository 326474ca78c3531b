#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <optional>
#include <vector>

namespace cachet::ops {

// Kernel attention, head by head, in blocks of rows that stay in a core's cache. The computation of a block consists of
// small float32 products and of one pass for the operations between the products. The backward pass computes the
// features of each block again, so the forward pass saves only the operands, and no features.
// ops/attention/kernel_attention.h has the formulas.

/// The operands of one call: q (B, H, Lq, n), k (B, H, Lk, n), v (B, H, Lk, e) with dense last dimension; weights and
/// units of the feature map; padding (B, Lk) or undefined. In causal calls, Lq = Lk.
struct KernelAttentionCall {
  at::Tensor q, k, v;
  std::vector<at::Tensor> weights;
  std::vector<int64_t> units;
  at::Tensor padding;
  bool causal;
  double eps, key_eps;

  int64_t features() const;  // m
};

/// Returns the sizes (B, H, stored·(e + 1), m) of the tensor with the sums that a call stores. If `causal` is true,
/// `stored` is the number of blocks into which the rows of q are divided; otherwise, `stored` is 1.
c10::SymDimVector sizes_of_states(const at::Tensor& q, const at::Tensor& v, bool causal, const c10::SymInt& features);

struct KernelAttended {
  at::Tensor output;  // (B, H, Lq, e); the heads of a token are contiguous
  at::Tensor states;  // (B, H, stored·(e + 1), m) float32: Σ [v, 1]φ(k)ᵀ of all keys, or of those before each block
  at::Tensor divisors;  // (B, H, Lq) float32, the divisors of the numerators
};

KernelAttended kernel_attention_forward(const KernelAttentionCall& call);

struct KernelAttentionGradients {
  at::Tensor q, k, v;
  std::vector<at::Tensor> weights;
};

KernelAttentionGradients kernel_attention_backward(const KernelAttentionCall& call, const at::Tensor& grad,
                                                   const KernelAttended& forward);

}  // namespace cachet::ops
