#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cachet::ops {

/// Special positions of keys.
constexpr int64_t kSeenByNone = -1;  // no query sees the key: it is padding
constexpr int64_t kSeenByAll = -2;   // every query that attends to the key's block sees it, even out of range

/// The range of keys that a query sees in the blocks to which the query attends. The query sees the keys with least ≤
/// (position of the key) − (position of the query) ≤ most.
struct KeysSeen {
  static constexpr int64_t kUnbounded = int64_t{1} << 30;

  at::Tensor query_positions;  // int64 (B, H, Lq); B and H may be 1; undefined: 0, 1, …
  at::Tensor key_positions;    // int64 (B, H, Lk), ≥ 0 or a special value; B and H may be 1; undefined: 0, 1, …
  int64_t least = -kUnbounded, most = kUnbounded;
  bool own_last = false;  // whether a query sees keys at its own position only if it sees no other key (Reformer)
};

/// The logsumexp of a query that sees no key. kNothingSeen is finite instead of −∞, so that a softmax over several
/// logsumexps is finite.
constexpr double kNothingSeen = -1e30;

struct BlockAttended {
  at::Tensor output;     // (B, H, Lq, e) in the dtype of q
  at::Tensor logsumexp;  // (B, H, Lq), float32 or wider: log Σ exp(score) of visible keys; else kNothingSeen
};

/// Softmax attention between blocks of tokens, the common form of BigBird (arXiv 2007.14062, Appendix D) and Reformer
/// (arXiv 2001.04451, Sec. 2). Time and memory are linear in the number of tokens:
///   y_i = Σ_j softmax_j(scale·q_i·k_j)·v_j   over the visible keys j in the blocks to which query i's block attends.
///
/// q (B, H, Lq, d); k (B, H, Lk, d) and v (B, H, Lk, e), or with batch size 1 for all samples. Block i consists of the
/// tokens [i·S, (i+1)·S), where S is block_size. The last block may be shorter. blocks (H or 1, ⌈Lq/S⌉, W) int64 lists
/// the key blocks of each block of queries; −1 stands for no block. A repeated block counts twice. A query that sees no
/// key gets zeros. Sums are in float32 or wider. Differentiable in q, k and v, also through the logsumexp. Only the
/// unfused form (ATen operators) is differentiable twice. Throws c10::Error if shapes, dtypes or values do not agree.
BlockAttended block_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& blocks,
                              int64_t block_size, double scale, const KeysSeen& seen = {});

}  // namespace cachet::ops
