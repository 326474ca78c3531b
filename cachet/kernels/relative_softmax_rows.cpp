#include "cachet/kernels/relative_softmax_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/relative_softmax_rows.cpp"
#include <hwy/foreach_target.h>
// Behind the one above.
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

namespace scalar {
namespace {

// Where the shift takes the number at (row, column) from: its place in the matrix with a column of zeros before it,
// counted through; −1 for one of the zeros.
int64_t source_of(int64_t row, int64_t column, RelativeSoftmaxShape s) {
  const int64_t place = row * s.columns + column + s.rows;
  const int64_t from_row = place / (s.columns + 1), from_column = place % (s.columns + 1);
  return from_column == 0 ? -1 : from_row * s.columns + from_column - 1;
}

}  // namespace

template <class T>
void relative_softmax_rows(const T* content, const T* position, const uint8_t* hidden, float scale, T* out,
                           float* scratch, RelativeSoftmaxShape s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = row * s.columns;
    float largest = -std::numeric_limits<float>::infinity(), sum = 0.0f;
    bool number = true;
    for (int64_t i = 0; i < s.columns; ++i) {
      const int64_t source = source_of(row, i, s);
      scratch[i] = (to_float(content[first + i]) + (source < 0 ? 0.0f : to_float(position[source]))) * scale;
      if (hidden && hidden[first + i]) scratch[i] = -std::numeric_limits<float>::infinity();
      number = number && !std::isnan(scratch[i]);
      largest = std::max(largest, scratch[i]);
    }
    const bool none = std::isinf(largest) && largest < 0;
    number = number && !(std::isinf(largest) && largest > 0);
    for (int64_t i = 0; i < s.columns && !none; ++i) sum += scratch[i] = std::exp(scratch[i] - largest);
    for (int64_t i = 0; i < s.columns; ++i)
      out[first + i] = from_float<T>(!number ? std::numeric_limits<float>::quiet_NaN()
                                     : none  ? 0.0f
                                             : scratch[i] / sum);
  }
}

template <class T>
void relative_softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_content, T* d_position,
                                    RelativeSoftmaxShape s) {
  for (int64_t i = 0; i < s.rows * s.columns; ++i) d_position[i] = from_float<T>(0.0f);
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = row * s.columns;
    float sum = 0.0f;
    for (int64_t i = first; i < first + s.columns; ++i) sum += to_float(weights[i]) * to_float(grad[i]);
    for (int64_t i = 0; i < s.columns; ++i) {
      const float pulled = to_float(weights[first + i]) * (to_float(grad[first + i]) - sum) * scale;
      d_content[first + i] = from_float<T>(pulled);
      if (const int64_t source = source_of(row, i, s); source >= 0) d_position[source] = from_float<T>(pulled);
    }
  }
}

}  // namespace scalar

#define CACHET_FORMS(space, T)                                                                     \
  template void space relative_softmax_rows(const T*, const T*, const uint8_t*, float, T*, float*, \
                                            RelativeSoftmaxShape);                                 \
  template void space relative_softmax_rows_backward(const T*, const T*, float, T*, T*, RelativeSoftmaxShape);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
