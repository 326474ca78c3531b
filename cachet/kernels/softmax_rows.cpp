#include "cachet/kernels/softmax_rows.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/softmax_rows.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

/// scale·score + bias of column i.
template <class D, class T>
HWY_INLINE hn::Vec<D> Biased(D d, const T* scores, const float* bias, float scale, int64_t i) {
  const auto x = hn::Mul(LoadFloat(d, scores + i), hn::Set(d, scale));
  return bias ? hn::Add(x, hn::LoadU(d, bias + i)) : x;
}

template <class T>
void SoftmaxRows(const T* scores, const float* bias, float scale, T* out, float* scratch, SoftmaxShape s) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < s.rows; ++row, scores += s.columns, out += s.columns) {
    const float* own = bias ? bias + row * s.columns : nullptr;
    const float largest =
        ScoreRow(scratch, s.columns, [&](auto d, int64_t i) { return Biased(d, scores, own, scale, i); });
    if (std::abs(largest) == infinity) {
      const float all = largest > 0 ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
      ForEachVector(s.columns, [&](auto d, int64_t i) { StoreFloat(hn::Set(d, all), d, out + i); });
      continue;
    }
    const float inverse = 1.0f / ExpOfRow(scratch, largest, s.columns);
    ForEachVector(s.columns, [&](auto d, int64_t i) {
      StoreFloat(hn::Mul(hn::LoadU(d, scratch + i), hn::Set(d, inverse)), d, out + i);
    });
  }
}

template <class T>
void SoftmaxRowsBackward(const T* weights, const T* grad, float scale, T* d_scores, float* d_bias, SoftmaxShape s) {
  for (int64_t row = 0; row < s.rows; ++row, weights += s.columns, grad += s.columns, d_scores += s.columns) {
    const float mean = RowProduct(weights, grad, s.columns);
    float* bias = d_bias ? d_bias + row * s.columns : nullptr;
    ForEachVector(s.columns, [&](auto d, int64_t i) {
      const auto pulled = hn::Mul(LoadFloat(d, weights + i), hn::Sub(LoadFloat(d, grad + i), hn::Set(d, mean)));
      if (bias) hn::StoreU(hn::Add(hn::LoadU(d, bias + i), pulled), d, bias + i);
      StoreFloat(hn::Mul(pulled, hn::Set(d, scale)), d, d_scores + i);
    });
  }
}

CACHET_KERNEL(SoftmaxRows);
CACHET_KERNEL(SoftmaxRowsBackward);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(SoftmaxRows);
CACHET_EXPORT(SoftmaxRowsBackward);

template <class T>
void softmax_rows(const T* scores, const float* bias, float scale, T* out, float* scratch, SoftmaxShape shape) {
  CACHET_DISPATCH(SoftmaxRows, T)(scores, bias, scale, out, scratch, shape);
}
template <class T>
void softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_scores, float* d_bias,
                           SoftmaxShape shape) {
  CACHET_DISPATCH(SoftmaxRowsBackward, T)(weights, grad, scale, d_scores, d_bias, shape);
}

#define CACHET_FORMS(T)                                                                \
  template void softmax_rows(const T*, const float*, float, T*, float*, SoftmaxShape); \
  template void softmax_rows_backward(const T*, const T*, float, T*, float*, SoftmaxShape);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
