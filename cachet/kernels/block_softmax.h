#pragma once

#include <cmath>
#include <cstdint>

#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Softmax of one block of queries over the keys it meets, in place. Rows of float32 lie `stride` numbers apart.

struct ScoreRows {
  int64_t rows, columns, stride;
};

/// Which keys a query sees: with its position q and theirs p, those with p ≥ 0 and least ≤ p − q ≤ most, and all with
/// p = kAlwaysSeen. Positions and bounds lie within ±2^30.
struct SeenKeys {
  const int32_t *queries, *keys;  // of the rows and of the columns
  int32_t least, most;
  bool own_last;  // a score at p = q is lowered by kOwnPenalty
};
constexpr int32_t kAlwaysSeen = -2;

/// What no sum of scores outweighs, and float32 still resolves scores next to.
constexpr float kOwnPenalty = 1e5f;
/// The logsumexp of a row that sees nothing.
constexpr float kNoScore = -1e30f;

/// weights = softmax(scale·scores) over the seen columns, 0 elsewhere and in a row that sees none, NaN in a row where a
/// seen score is NaN or +∞. seen: null for all. logsumexp (rows): log Σ e^(scale·score), kNoScore for none.
void block_softmax(float* scores, float scale, const SeenKeys* seen, float* logsumexp, ScoreRows shape);

/// The same weights again from the logsumexp: e^(scale·score − logsumexp).
void block_weights(float* scores, float scale, const SeenKeys* seen, const float* logsumexp, ScoreRows shape);

/// From the weights' gradient that of the scores, in place: scale·weight·(gradient − offset of the row).
void block_softmax_backward(const float* weights, const float* offsets, float scale, float* grad, ScoreRows shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// scale·score as a query sees it: −∞ if it does not see the key, lowered by kOwnPenalty if the rule asks for it.
CACHET_HOST_DEVICE inline float seen_score(float score, float scale, const SeenKeys* seen, int64_t row,
                                           int64_t column) {
  const float scaled = score * scale;
  if (!seen) return scaled;
  const int32_t key = seen->keys[column], ahead = key - seen->queries[row];
  const bool visible = key == kAlwaysSeen || (key >= 0 && ahead >= seen->least && ahead <= seen->most);
  if (!visible) return -INFINITY;
  return seen->own_last && ahead == 0 ? scaled - kOwnPenalty : scaled;
}

/// The gradient of a score from that of its weight.
CACHET_HOST_DEVICE inline float block_score_gradient(float weight, float grad, float offset, float scale) {
  return scale * weight * (grad - offset);
}

}  // namespace cachet::kernels
