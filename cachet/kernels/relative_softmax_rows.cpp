#include "cachet/kernels/relative_softmax_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/relative_softmax_rows.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

/// to[i] = from[i], in another type perhaps.
template <class From, class To>
HWY_INLINE void CopyRow(const From* from, To* to, int64_t count) {
  ForEachVector(count, [&](auto d, int64_t i) { StoreFloat(LoadFloat(d, from + i), d, to + i); });
}

template <class T>
void RelativeSoftmaxRows(const T* content, const T* position, const uint8_t* hidden, float scale, T* out,
                         float* scratch, RelativeSoftmaxShape s) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < s.rows; ++row) {
    const T* own = position + row * s.columns;
    const int64_t behind = s.rows - 1 - row, seen = s.columns - behind;  // keys ahead of the query, and up to itself
    CopyRow(own + behind, scratch, seen);
    if (behind > 0) {
      scratch[seen] = 0.0f;
      CopyRow(own + s.columns, scratch + seen + 1, behind - 1);
    }
    const T* scores = content + row * s.columns;
    const uint8_t* none = hidden ? hidden + row * s.columns : nullptr;
    for (int64_t i = 0; none && i < s.columns; ++i) scratch[i] = none[i] ? -infinity : scratch[i];
    const float largest = ScoreRow(scratch, s.columns, [&](auto d, int64_t i) {
      const auto shifted = hn::LoadU(d, scratch + i), least = hn::Set(d, -infinity);
      const auto sum = hn::Mul(hn::Add(LoadFloat(d, scores + i), shifted), hn::Set(d, scale));
      return hn::IfThenElse(hn::Eq(shifted, least), least, sum);
    });
    T* weights = out + row * s.columns;
    if (std::abs(largest) == infinity) {
      const float all = largest > 0 ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
      ForEachVector(s.columns, [&](auto d, int64_t i) { StoreFloat(hn::Set(d, all), d, weights + i); });
      continue;
    }
    const float inverse = 1.0f / ExpOfRow(scratch, largest, s.columns);
    ForEachVector(s.columns, [&](auto d, int64_t i) {
      StoreFloat(hn::Mul(hn::LoadU(d, scratch + i), hn::Set(d, inverse)), d, weights + i);
    });
  }
}

template <class T>
void RelativeSoftmaxRowsBackward(const T* weights, const T* grad, float scale, T* d_content, T* d_position,
                                 RelativeSoftmaxShape s) {
  if (s.rows == 0) return;
  // No query of the first row is that far from a key.
  std::fill_n(d_position, s.rows - 1, from_float<T>(0.0f));
  for (int64_t row = 0; row < s.rows; ++row) {
    const T *p = weights + row * s.columns, *g = grad + row * s.columns;
    const float mean = RowProduct(p, g, s.columns);
    T* pulled = d_content + row * s.columns;
    ForEachVector(s.columns, [&](auto d, int64_t i) {
      const auto centred = hn::Sub(LoadFloat(d, g + i), hn::Set(d, mean));
      StoreFloat(hn::Mul(hn::Mul(LoadFloat(d, p + i), centred), hn::Set(d, scale)), d, pulled + i);
    });
    const int64_t behind = s.rows - 1 - row, seen = s.columns - behind;
    T* own = d_position + row * s.columns;
    CopyRow(pulled, own + behind, seen);
    if (behind > 0) CopyRow(pulled + seen + 1, own + s.columns, behind - 1);
  }
}

CACHET_KERNEL(RelativeSoftmaxRows);
CACHET_KERNEL(RelativeSoftmaxRowsBackward);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(RelativeSoftmaxRows);
CACHET_EXPORT(RelativeSoftmaxRowsBackward);

template <class T>
void relative_softmax_rows(const T* content, const T* position, const uint8_t* hidden, float scale, T* out,
                           float* scratch, RelativeSoftmaxShape shape) {
  CACHET_DISPATCH(RelativeSoftmaxRows, T)(content, position, hidden, scale, out, scratch, shape);
}
template <class T>
void relative_softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_content, T* d_position,
                                    RelativeSoftmaxShape shape) {
  CACHET_DISPATCH(RelativeSoftmaxRowsBackward, T)(weights, grad, scale, d_content, d_position, shape);
}

#define CACHET_FORMS(T)                                                                                             \
  template void relative_softmax_rows(const T*, const T*, const uint8_t*, float, T*, float*, RelativeSoftmaxShape); \
  template void relative_softmax_rows_backward(const T*, const T*, float, T*, T*, RelativeSoftmaxShape);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
