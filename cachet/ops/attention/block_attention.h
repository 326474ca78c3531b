#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cachet::ops {

/// Special values of a key's position.
constexpr int64_t kSeenByNone = -1;  // padding
constexpr int64_t kSeenByAll = -2;   // seen by every query that attends to the key's block, even if it is out of range

/// The keys that a query sees in the blocks to which it attends: keys at positions p with least ≤
/// p − (position of the query) ≤ most.
struct KeysSeen {
  static constexpr int64_t kUnbounded = int64_t{1} << 30;

  at::Tensor query_positions;  // int64 (B, H, Lq), or 1 instead of B or H; undefined: 0, 1, …
  at::Tensor key_positions;  // int64 (B, H, Lk), or 1 instead of B or H, ≥ 0 or a special value; undefined: 0, 1, …
  int64_t least = -kUnbounded, most = kUnbounded;
  bool own_last = false;  // a key at the query's own position is seen only if no other key is (Reformer's rule)
};

/// The logsumexp of a query that sees no key. This value is finite: a softmax over several logsumexps stays finite.
constexpr double kNothingSeen = -1e30;

struct BlockAttended {
  at::Tensor output;     // (B, H, Lq, e) in the dtype of q
  at::Tensor logsumexp;  // (B, H, Lq), float32 or wider: log Σ exp(score) of visible keys; kNothingSeen without any
};

/// Softmax attention between blocks of tokens. Time and memory are linear in the number of tokens (the common form of
/// BigBird, arXiv 2007.14062, App. D, and Reformer, arXiv 2001.04451, Sec. 2):
///   y_i = Σ_j softmax_j(scale·q_i·k_j)·v_j   over the visible keys j in the blocks to which the block of i attends
///
/// q (B, H, Lq, d); k (B, H, Lk, d) and v (B, H, Lk, e), or with batch 1 for all samples. Tokens [i·S, (i+1)·S) are
/// block i, S = block_size; the last block may be shorter. blocks (H, ⌈Lq/S⌉, W) int64, or 1 instead of H: the key
/// blocks of each block of queries, −1 = none. A block named twice counts twice. A query that sees no key gets zeros.
/// Sums are in float32 or wider. Differentiable in q, k and v, also through the logsumexp; twice only in the unfused
/// form. Throws c10::Error if shapes, dtypes or numbers do not agree.
BlockAttended block_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& blocks,
                              int64_t block_size, double scale, const KeysSeen& seen = {});

}  // namespace cachet::ops
