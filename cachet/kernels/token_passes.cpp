#include "cachet/kernels/token_passes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/token_passes.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

// Rows are taken four at a time, so that sums are read and written once for four of them.
constexpr int64_t kRows = 4;

/// Calls several(first) for four valid rows in a line, one(row) for the others that are valid.
template <class Several, class One>
HWY_INLINE void ForEachRow(const bool* padding, int64_t rows, const Several& several, const One& one) {
  int64_t row = 0;
  if (!padding)
    for (; row + kRows <= rows; row += kRows) several(row);
  for (; row < rows; ++row)
    if (!padding || !padding[row]) one(row);
}

template <class T>
void SumOfSquares(const T* x, const bool* padding, float* sums, Tokens s) {
  ForEachRow(
      padding, s.tokens,
      [&](int64_t row) {
        const T* r = x + row * s.channels;
        ForEachVector(s.channels, [&](auto d, int64_t i) {
          auto sum = LoadFloat(d, sums + i);
          for (int64_t k = 0; k < kRows; ++k) {
            const auto v = LoadFloat(d, r + k * s.channels + i);
            sum = hn::MulAdd(v, v, sum);
          }
          StoreFloat(sum, d, sums + i);
        });
      },
      [&](int64_t row) {
        const T* r = x + row * s.channels;
        ForEachVector(s.channels, [&](auto d, int64_t i) {
          const auto v = LoadFloat(d, r + i);
          StoreFloat(hn::MulAdd(v, v, LoadFloat(d, sums + i)), d, sums + i);
        });
      });
}

template <class T>
void GradientSums(const T* dy, const T* x, const bool* padding, float* products, float* totals, Tokens s) {
  const auto add = [&](int64_t row, int64_t rows) {
    const T *r = x + row * s.channels, *g = dy + row * s.channels;
    ForEachVector(s.channels, [&](auto d, int64_t i) {
      auto product = LoadFloat(d, products + i), total = LoadFloat(d, totals + i);
      for (int64_t k = 0; k < rows; ++k) {
        const auto v = LoadFloat(d, g + k * s.channels + i);
        product = hn::MulAdd(v, LoadFloat(d, r + k * s.channels + i), product);
        total = hn::Add(total, v);
      }
      StoreFloat(product, d, products + i);
      StoreFloat(total, d, totals + i);
    });
  };
  ForEachRow(
      padding, s.tokens, [&](int64_t row) { add(row, kRows); }, [&](int64_t row) { add(row, 1); });
}

template <class T>
void ScaleShift(const T* x, const float* scale, const float* shift, T* y, Tokens s) {
  for (int64_t row = 0; row < s.tokens; ++row, x += s.channels, y += s.channels)
    if (shift)
      ForEachVector(s.channels, [&](auto d, int64_t i) {
        StoreFloat(hn::MulAdd(LoadFloat(d, x + i), LoadFloat(d, scale + i), LoadFloat(d, shift + i)), d, y + i);
      });
    else
      ForEachVector(s.channels, [&](auto d, int64_t i) {
        StoreFloat(hn::Mul(LoadFloat(d, x + i), LoadFloat(d, scale + i)), d, y + i);
      });
}

template <class T>
void ScaleSubtract(const T* dy, const float* grad_scale, const T* x, const float* input_scale, T* out, Tokens s) {
  for (int64_t row = 0; row < s.tokens; ++row, dy += s.channels, x += s.channels, out += s.channels)
    ForEachVector(s.channels, [&](auto d, int64_t i) {
      const auto pull = hn::Mul(LoadFloat(d, x + i), LoadFloat(d, input_scale + i));
      StoreFloat(hn::MulSub(LoadFloat(d, dy + i), LoadFloat(d, grad_scale + i), pull), d, out + i);
    });
}

CACHET_KERNEL(SumOfSquares);
CACHET_KERNEL(GradientSums);
CACHET_KERNEL(ScaleShift);
CACHET_KERNEL(ScaleSubtract);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(SumOfSquares);
CACHET_EXPORT(GradientSums);
CACHET_EXPORT(ScaleShift);
CACHET_EXPORT(ScaleSubtract);

template <class T>
void sum_of_squares(const T* x, const bool* padding, float* sums, Tokens shape) {
  CACHET_DISPATCH(SumOfSquares, T)(x, padding, sums, shape);
}
template <class T>
void gradient_sums(const T* dy, const T* x, const bool* padding, float* products, float* totals, Tokens shape) {
  CACHET_DISPATCH(GradientSums, T)(dy, x, padding, products, totals, shape);
}
template <class T>
void scale_shift(const T* x, const float* scale, const float* shift, T* y, Tokens shape) {
  CACHET_DISPATCH(ScaleShift, T)(x, scale, shift, y, shape);
}
template <class T>
void scale_subtract(const T* dy, const float* grad_scale, const T* x, const float* input_scale, T* out, Tokens shape) {
  CACHET_DISPATCH(ScaleSubtract, T)(dy, grad_scale, x, input_scale, out, shape);
}

#define CACHET_FORMS(T)                                                                 \
  template void sum_of_squares(const T*, const bool*, float*, Tokens);                  \
  template void gradient_sums(const T*, const T*, const bool*, float*, float*, Tokens); \
  template void scale_shift(const T*, const float*, const float*, T*, Tokens);          \
  template void scale_subtract(const T*, const float*, const T*, const float*, T*, Tokens);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
