#include "cachet/kernels/block_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/block_softmax.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include <hwy/highway.h>

#include "cachet/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

/// scale·score of column i, −∞ where it is not seen.
template <class D>
HWY_INLINE hn::Vec<D> Masked(D d, const float* scores, float scale, const SeenKeys* seen, int32_t query, int64_t i) {
  auto x = hn::Mul(hn::LoadU(d, scores + i), hn::Set(d, scale));
  if (!seen) return x;
  const hn::RebindToSigned<D> whole;
  const auto key = hn::LoadU(whole, seen->keys + i);
  const auto ahead = hn::Sub(key, hn::Set(whole, query));
  if (seen->own_last)
    x = hn::Sub(x, hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(ahead, hn::Zero(whole))), hn::Set(d, kOwnPenalty)));
  const auto inside =
      hn::And(hn::Gt(ahead, hn::Set(whole, seen->least - 1)), hn::Lt(ahead, hn::Set(whole, seen->most + 1)));
  const auto in_range = hn::And(inside, hn::Gt(key, hn::Set(whole, -1)));
  const auto visible = hn::Or(in_range, hn::Eq(key, hn::Set(whole, kAlwaysSeen)));
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  return hn::IfThenElse(hn::RebindMask(d, visible), x, hn::Neg(infinity));
}

HWY_INLINE void FillRow(float* x, float value, int64_t columns) {
  ForEachVector(columns, [&](auto d, int64_t i) { hn::StoreU(hn::Set(d, value), d, x + i); });
}

void BlockSoftmax(float* scores, float scale, const SeenKeys* seen, float* logsumexp, ScoreRows s) {
  const float infinity = std::numeric_limits<float>::infinity();
  constexpr int64_t kTogether = 32;  // rows whose logarithms are taken as vectors
  float most[kTogether], sums[kTogether];
  for (int64_t first = 0; first < s.rows; first += kTogether) {
    const int64_t rows = std::min(kTogether, s.rows - first);
    for (int64_t r = 0; r < rows; ++r, scores += s.stride) {
      const int32_t query = seen ? seen->queries[first + r] : 0;
      const float largest =
          ScoreRow(scores, s.columns, [&](auto d, int64_t i) { return Masked(d, scores, scale, seen, query, i); });
      if (std::abs(largest) == infinity) {
        const bool none = largest < 0;
        most[r] = none ? kNoScore : std::numeric_limits<float>::quiet_NaN();
        sums[r] = 1.0f;
        FillRow(scores, none ? 0.0f : most[r], s.columns);
        continue;
      }
      most[r] = largest;
      sums[r] = ExpOfRow(scores, largest, s.columns);
      const float inverse = 1.0f / sums[r];
      ForEachVector(s.columns, [&](auto d, int64_t i) {
        hn::StoreU(hn::Mul(hn::LoadU(d, scores + i), hn::Set(d, inverse)), d, scores + i);
      });
    }
    ForEachVector(rows, [&](auto d, int64_t r) {
      hn::StoreU(hn::Add(hn::LoadU(d, most + r), hn::Log(d, hn::LoadU(d, sums + r))), d, logsumexp + first + r);
    });
  }
}

void BlockWeights(float* scores, float scale, const SeenKeys* seen, const float* logsumexp, ScoreRows s) {
  for (int64_t row = 0; row < s.rows; ++row, scores += s.stride)
    ForEachVector(s.columns, [&](auto d, int64_t i) {
      const auto x = Masked(d, scores, scale, seen, seen ? seen->queries[row] : 0, i);
      hn::StoreU(BoundedExp(d, hn::Sub(x, hn::Set(d, logsumexp[row]))), d, scores + i);
    });
}

void BlockSoftmaxBackward(const float* weights, const float* offsets, float scale, float* grad, ScoreRows s) {
  for (int64_t row = 0; row < s.rows; ++row, weights += s.stride, grad += s.stride)
    ForEachVector(s.columns, [&](auto d, int64_t i) {
      const auto pulled = hn::Mul(hn::LoadU(d, weights + i), hn::Sub(hn::LoadU(d, grad + i), hn::Set(d, offsets[row])));
      hn::StoreU(hn::Mul(pulled, hn::Set(d, scale)), d, grad + i);
    });
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

HWY_EXPORT(BlockSoftmax);
HWY_EXPORT(BlockWeights);
HWY_EXPORT(BlockSoftmaxBackward);

void block_softmax(float* scores, float scale, const SeenKeys* seen, float* logsumexp, ScoreRows shape) {
  HWY_DYNAMIC_DISPATCH(BlockSoftmax)(scores, scale, seen, logsumexp, shape);
}
void block_weights(float* scores, float scale, const SeenKeys* seen, const float* logsumexp, ScoreRows shape) {
  HWY_DYNAMIC_DISPATCH(BlockWeights)(scores, scale, seen, logsumexp, shape);
}
void block_softmax_backward(const float* weights, const float* offsets, float scale, float* grad, ScoreRows shape) {
  HWY_DYNAMIC_DISPATCH(BlockSoftmaxBackward)(weights, offsets, scale, grad, shape);
}

}  // namespace cachet::kernels
#endif
