// The passes of a softmax over a row of scores. This file is compiled once for each instruction set:
// include it after foreach_target.h.
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

/// Computes x[i] = score(tag, i). Returns the largest score, or +∞ if a score is NaN (hn::Max would not return NaN).
template <class Score>
HWY_INLINE float ScoreRow(float* x, int64_t columns, const Score& score) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto step = [&](auto tag, int64_t i) {
    const auto s = score(tag, i);
    hn::StoreU(s, tag, x + i);
    return hn::IfThenElse(hn::Eq(s, s), s, hn::Set(tag, infinity));
  };
  auto most = hn::Set(Wide(), -infinity);
  const int64_t rest = Steps(Wide(), 0, columns, [&](auto d, int64_t i) { most = hn::Max(most, step(d, i)); });
  float largest = hn::GetLane(hn::MaxOfLanes(Wide(), most));
  ForEachPart(rest, columns,
              [&](auto d, int64_t i) { largest = std::max(largest, hn::GetLane(hn::MaxOfLanes(d, step(d, i)))); });
  return largest;
}

/// Replaces each x of a row by e^(x − largest), and returns the sum of the results.
HWY_INLINE float ExpOfRow(float* x, float largest, int64_t columns) {
  return SumOfRow(columns, [&](auto d, int64_t i, auto sum) {
    const auto e = ExpOfNegative(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest)));
    hn::StoreU(e, d, x + i);
    return hn::Add(sum, e);
  });
}

/// Returns Σ weights·grad, the mean of the gradient weighted by `weights`.
template <class T>
HWY_INLINE float RowProduct(const T* weights, const T* grad, int64_t columns) {
  return SumOfRow(columns, [&](auto d, int64_t i, auto sum) {
    return hn::MulAdd(LoadFloat(d, weights + i), LoadFloat(d, grad + i), sum);
  });
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
