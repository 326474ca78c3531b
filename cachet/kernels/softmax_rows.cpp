#include "cachet/kernels/softmax_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/softmax_rows.cpp"
#include <hwy/foreach_target.h>
// Behind the one above.
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

namespace scalar {

template <class T>
void softmax_rows(const T* scores, const float* bias, float scale, T* out, float* scratch, SoftmaxShape s) {
  for (int64_t row = 0; row < s.rows; ++row, scores += s.columns, out += s.columns) {
    float largest = -std::numeric_limits<float>::infinity(), sum = 0.0f;
    bool number = true;
    for (int64_t i = 0; i < s.columns; ++i) {
      scratch[i] = to_float(scores[i]) * scale + (bias ? bias[row * s.columns + i] : 0.0f);
      number = number && !std::isnan(scratch[i]);
      largest = std::max(largest, scratch[i]);
    }
    const bool none = std::isinf(largest) && largest < 0;
    number = number && !(std::isinf(largest) && largest > 0);
    for (int64_t i = 0; i < s.columns && !none; ++i) sum += scratch[i] = std::exp(scratch[i] - largest);
    for (int64_t i = 0; i < s.columns; ++i)
      out[i] = from_float<T>(!number ? std::numeric_limits<float>::quiet_NaN() : none ? 0.0f : scratch[i] / sum);
  }
}

template <class T>
void softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_scores, float* d_bias, SoftmaxShape s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = row * s.columns;
    float sum = 0.0f;
    for (int64_t i = first; i < first + s.columns; ++i) sum += to_float(weights[i]) * to_float(grad[i]);
    for (int64_t i = first; i < first + s.columns; ++i) {
      const float pulled = to_float(weights[i]) * (to_float(grad[i]) - sum);
      if (d_bias) d_bias[i] += pulled;
      d_scores[i] = from_float<T>(pulled * scale);
    }
  }
}

}  // namespace scalar

#define CACHET_FORMS(space, T)                                                               \
  template void space softmax_rows(const T*, const float*, float, T*, float*, SoftmaxShape); \
  template void space softmax_rows_backward(const T*, const T*, float, T*, float*, SoftmaxShape);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
