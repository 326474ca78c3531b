#pragma once

#include <cmath>
#include <cstdint>

#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// In-place softmax of the scores of a block of queries and a block of keys. float32 rows are `stride` numbers apart.

struct ScoreRows {
  int64_t rows, columns, stride;
};

/// The keys that a query sees. A query at position q sees a key at position p if p = kAlwaysSeen, or if p ≥ 0 and
/// least ≤ p − q ≤ most. All positions, `least` and `most` are between −2^30 and 2^30.
struct SeenKeys {
  const int32_t *queries, *keys;  // positions of the rows (queries) and of the columns (keys)
  int32_t least, most;
  bool own_last;  // whether to subtract kOwnPenalty from scores at p = q
};
constexpr int32_t kAlwaysSeen = -2;

/// A penalty that is larger than any sum of scores, but so small that a score minus the penalty is still exact enough
/// in float32.
constexpr float kOwnPenalty = 1e5f;
/// The logsumexp of a row that sees no key.
constexpr float kNoScore = -1e30f;

/// Replaces scores by softmax(scale·scores) over the columns that a row sees (all if `seen` is null). The elements in
/// columns that the row does not see become 0. If a row sees a score of NaN or +∞, the whole row becomes NaN. logsumexp
/// (rows) gets log Σ e^(scale·score), or kNoScore if a row sees no key.
void block_softmax(float* scores, float scale, const SeenKeys* seen, float* logsumexp, ScoreRows shape);

/// Computes the weights of block_softmax() again from logsumexp, in place: e^(scale·score − logsumexp).
void block_weights(float* scores, float scale, const SeenKeys* seen, const float* logsumexp, ScoreRows shape);

/// Replaces the gradient `grad` of the weights by the gradient of the scores: scale·weight·(gradient − offset of the
/// row).
void block_softmax_backward(const float* weights, const float* offsets, float scale, float* grad, ScoreRows shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// Returns scale·score, or −∞ if the query does not see the key. If SeenKeys::own_last is set, subtracts kOwnPenalty
/// for a key at the position of the query (p = q).
CACHET_HOST_DEVICE inline float seen_score(float score, float scale, const SeenKeys* seen, int64_t row,
                                           int64_t column) {
  const float scaled = score * scale;
  if (!seen) return scaled;
  const int32_t key = seen->keys[column], ahead = key - seen->queries[row];
  const bool visible = key == kAlwaysSeen || (key >= 0 && ahead >= seen->least && ahead <= seen->most);
  if (!visible) return -INFINITY;
  return seen->own_last && ahead == 0 ? scaled - kOwnPenalty : scaled;
}

/// Returns the gradient of an attention score. `weight` is the softmax of the score, `grad` the gradient of `weight`.
CACHET_HOST_DEVICE inline float block_score_gradient(float weight, float grad, float offset, float scale) {
  return scale * weight * (grad - offset);
}

}  // namespace cachet::kernels
