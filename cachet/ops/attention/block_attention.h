#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cachet::ops {

/// Positions of keys with a special meaning.
constexpr int64_t kSeenByNone = -1;  // padding
constexpr int64_t kSeenByAll = -2;   // by every query that meets its block, whatever the range

/// The keys that a query sees in the blocks that it attends to: those at a position p with least ≤ p − (the query's
/// own) ≤ most.
struct KeysSeen {
  static constexpr int64_t kUnbounded = int64_t{1} << 30;

  at::Tensor query_positions;  // int64 (B, H, Lq), or 1 in place of B or H; undefined: 0, 1, …
  at::Tensor key_positions;  // int64 (B, H, Lk), or 1 in place of B or H, ≥ 0 or one of the above; undefined: 0, 1, …
  int64_t least = -kUnbounded, most = kUnbounded;
  bool own_last = false;  // a key at the query's own position is seen if nothing else is (Reformer's rule)
};

/// The logsumexp of a query that sees no key: finite, so that a softmax over several of them stays a number.
constexpr double kNothingSeen = -1e30;

struct BlockAttended {
  at::Tensor output;     // (B, H, Lq, e) in the dtype of q
  at::Tensor logsumexp;  // (B, H, Lq), float32 or wider: log Σ exp(score) of what a query sees; kNothingSeen for none
};

/// Softmax attention between blocks of tokens, in time and memory linear in their number (the common form of BigBird,
/// arXiv 2007.14062, App. D, and Reformer, arXiv 2001.04451, Sec. 2):
///   y_i = Σ_j softmax_j(scale·q_i·k_j)·v_j   over the keys j that i sees in the blocks which the block of i meets
///
/// q (B, H, Lq, d); k (B, H, Lk, d) and v (B, H, Lk, e), or with batch 1, shared by all samples. Tokens [i·S, (i+1)·S)
/// are block i, S = block_size; the last may be shorter. blocks (H, ⌈Lq/S⌉, W) int64, or 1 in place of H: the blocks of
/// keys that each block of queries meets, −1 for none. A block named twice counts twice. A query that sees no key gets
/// zeros. Sums are taken in float32 or wider. Differentiable in q, k and v, also through the logsumexp; twice only in
/// the unfused form. Throws c10::Error when shapes, dtypes or numbers do not agree.
BlockAttended block_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& blocks,
                              int64_t block_size, double scale, const KeysSeen& seen = {});

}  // namespace cachet::ops
