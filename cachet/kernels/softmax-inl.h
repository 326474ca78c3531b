// The passes over a row of scores that its softmax takes. Compiled once per instruction set: include it behind
// foreach_target.h.
#if defined(CACHET_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHET_KERNELS_SOFTMAX_INL_H_
#undef CACHET_KERNELS_SOFTMAX_INL_H_
#else
#define CACHET_KERNELS_SOFTMAX_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

/// x[i] = score(tag, i) for whole vectors, then for single elements. Returns the largest; +∞ where one is NaN, which
/// Max would lose.
template <class Score>
HWY_INLINE float ScoreRow(float* x, int64_t columns, const Score& score) {
  const Wide d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float infinity = std::numeric_limits<float>::infinity();
  const auto step = [&](auto tag, int64_t i) {
    const auto s = score(tag, i);
    hn::StoreU(s, tag, x + i);
    return hn::IfThenElse(hn::Eq(s, s), s, hn::Set(tag, infinity));
  };
  auto most = hn::Set(d, -infinity);
  int64_t i = 0;
  for (; i + lanes <= columns; i += lanes) most = hn::Max(most, step(d, i));
  float largest = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; i < columns; ++i) largest = std::max(largest, hn::GetLane(step(One(), i)));
  return largest;
}

/// e^(x − largest) in place. Returns the sum.
HWY_INLINE float ExpOfRow(float* x, float largest, int64_t columns) {
  const Wide d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto step = [&](auto tag, int64_t i) {
    const auto e = ExpOfNegative(tag, hn::Sub(hn::LoadU(tag, x + i), hn::Set(tag, largest)));
    hn::StoreU(e, tag, x + i);
    return e;
  };
  auto sums = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= columns; i += lanes) sums = hn::Add(sums, step(d, i));
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < columns; ++i) sum += hn::GetLane(step(One(), i));
  return sum;
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
