#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/ops/attention/block_attention.h"

namespace cachet::ops {

// Block attention, head by head. The scores of one block of queries stay in a core's cache, keys are not
// copied, and the backward pass computes the weights again from the logsumexp.
// ops/attention/block_attention.h has the formula.

/// The operands of one call: q (B, H, Lq, d), k (B, H, Lk, d), v (B, H, Lk, e) with dense last dimension; blocks
/// contiguous; positions (B, H, L) or undefined.
struct BlockAttentionCall {
  at::Tensor q, k, v, blocks;
  int64_t block_size;
  double scale;
  KeysSeen seen;
};

/// Computes output and logsumexp. Throws c10::Error if `call` lists a key block that does not exist. The heads of a
/// token are contiguous in memory.
BlockAttended block_attention_forward(const BlockAttentionCall& call);

struct BlockAttentionGradients {
  at::Tensor q, k, v;
};

BlockAttentionGradients block_attention_gradients(const BlockAttentionCall& call, const at::Tensor& grad,
                                                  const at::Tensor& grad_logsumexp, const BlockAttended& forward);

}  // namespace cachet::ops
