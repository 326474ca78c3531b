#include "cachet/kernels/cross_entropy_rows.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/cross_entropy_rows.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

/// All of a row's results are one number: 0 where it has no class, NaN where its scores are not numbers.
template <class T>
HWY_INLINE void FillRow(float value, float* loss, float* likelihood, T* residual, int64_t columns) {
  *loss = *likelihood = value;
  if (residual) ForEachVector(columns, [&](auto d, int64_t i) { StoreFloat(hn::Set(d, value), d, residual + i); });
}

/// Σ (largest − x)
HWY_INLINE float SumBelow(const float* x, float largest, int64_t columns) {
  return SumOfRow(columns, [&](auto d, int64_t i, auto sum) {
    return hn::Add(sum, hn::Sub(hn::Set(d, largest), hn::LoadU(d, x + i)));
  });
}

template <class T>
void CrossEntropyRows(const T* scores, const float* bias, const CrossEntropyTargets& targets, float* losses,
                      float* likelihoods, T* residual, float* scratch, CrossEntropyShape s) {
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  const float given = 1.0f - targets.smoothing - targets.other;
  for (int64_t row = 0; row < s.rows; ++row, scores += s.columns) {
    T* own = residual ? residual + row * s.columns : nullptr;
    const int64_t target = targets.classes[row];
    if (target < 0) {
      FillRow(0.0f, losses + row, likelihoods + row, own, s.columns);
      continue;
    }
    const float largest = ScoreRow(scratch, s.columns, [&](auto d, int64_t i) {
      const auto x = LoadFloat(d, scores + i);
      return bias ? hn::Add(x, hn::LoadU(d, bias + i)) : x;
    });
    if (std::isinf(largest)) {
      FillRow(nothing, losses + row, likelihoods + row, own, s.columns);
      continue;
    }
    const float below = largest - scratch[target];
    const float all_below = targets.other > 0 ? SumBelow(scratch, largest, s.columns) : 0.0f;
    const float sum = ExpOfRow(scratch, largest, s.columns), log_sum = std::log(sum);
    likelihoods[row] = log_sum + below;
    losses[row] = targets.other > 0 ? log_sum + given * below + targets.other * all_below : likelihoods[row];
    if (!own) continue;
    const float inverse = 1.0f / sum;
    const float wanted = scratch[target] * inverse - given - targets.other;
    ForEachVector(s.columns, [&](auto d, int64_t i) {
      StoreFloat(hn::MulSub(hn::LoadU(d, scratch + i), hn::Set(d, inverse), hn::Set(d, targets.other)), d, own + i);
    });
    own[target] = from_float<T>(wanted);
  }
}

CACHET_KERNEL(CrossEntropyRows);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(CrossEntropyRows);

template <class T>
void cross_entropy_rows(const T* scores, const float* bias, const CrossEntropyTargets& targets, float* losses,
                        float* likelihoods, T* residual, float* scratch, CrossEntropyShape shape) {
  CACHET_DISPATCH(CrossEntropyRows, T)
  (scores, bias, targets, losses, likelihoods, residual, scratch, shape);
}

#define CACHET_FORMS(T)                                                                                            \
  template void cross_entropy_rows(const T*, const float*, const CrossEntropyTargets&, float*, float*, T*, float*, \
                                   CrossEntropyShape);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
