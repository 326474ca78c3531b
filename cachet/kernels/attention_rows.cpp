#include "cachet/kernels/attention_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/attention_rows.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

template <class T>
void AppendOnes(const T* values, const bool* padding, float* with_ones, ValueRows s) {
  for (int64_t row = 0; row < s.rows; ++row, values += s.stride, with_ones += s.width + 1) {
    const bool padded = padding && padding[row];
    ForEachVector(s.width, [&](auto d, int64_t i) {
      hn::StoreU(padded ? hn::Zero(d) : LoadFloat(d, values + i), d, with_ones + i);
    });
    with_ones[s.width] = padded ? 0.0f : 1.0f;
  }
}

void DotRows(const float* matrix, const float* vector, bool add, float* sums, ValueRows s) {
  const Wide d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < s.rows; ++row, matrix += s.stride) {
    // Two chains of additions: one alone waits for itself.
    auto even = hn::Zero(d), odd = hn::Zero(d);
    const auto term = [&](auto tag, int64_t i, auto sum) {
      const auto numbers = hn::LoadU(tag, matrix + i);
      return vector ? hn::MulAdd(numbers, hn::LoadU(tag, vector + i), sum) : hn::Add(numbers, sum);
    };
    int64_t i = 0;
    for (; i + 2 * lanes <= s.width; i += 2 * lanes) even = term(d, i, even), odd = term(d, i + lanes, odd);
    i = Steps(d, i, s.width, [&](auto, int64_t at) { even = term(d, at, even); });
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    ForEachPart(i, s.width, [&](auto part, int64_t at) {
      sum += hn::GetLane(hn::SumOfLanes(part, term(part, at, hn::Zero(part))));
    });
    sums[row] = add ? sums[row] + sum : sum;
  }
}

template <class T>
void DivideTotals(const float* numerators, const float* denominators, float eps, T* out, float* divisors, ValueRows s) {
  for (int64_t row = 0; row < s.rows; ++row, numerators += s.width, out += s.stride) {
    const float divisor = denominators[row] + eps, inverse = divisor > 0 ? 1.0f / divisor : 0.0f;
    divisors[row] = divisor > 0 ? divisor : 0.0f;
    ForEachVector(s.width, [&](auto d, int64_t i) {
      StoreFloat(hn::Mul(hn::LoadU(d, numerators + i), hn::Set(d, inverse)), d, out + i);
    });
  }
}

template <class T>
void DivideTotalsBackward(const T* out, const float* divisors, const T* grad, int64_t grad_stride, float* d_totals,
                          ValueRows s) {
  for (int64_t row = 0; row < s.rows; ++row, out += s.stride, grad += grad_stride, d_totals += s.width + 1) {
    const float inverse = divisors[row] > 0 ? 1.0f / divisors[row] : 0.0f;
    d_totals[s.width] = -SumOfRow(s.width, [&](auto d, int64_t i, auto sum) {
      const auto scaled = hn::Mul(LoadFloat(d, grad + i), hn::Set(d, inverse));
      hn::StoreU(scaled, d, d_totals + i);
      return hn::MulAdd(scaled, LoadFloat(d, out + i), sum);
    });
  }
}

CACHET_KERNEL(AppendOnes);
CACHET_KERNEL(DivideTotals);
CACHET_KERNEL(DivideTotalsBackward);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

HWY_EXPORT(DotRows);
CACHET_EXPORT(AppendOnes);
CACHET_EXPORT(DivideTotals);
CACHET_EXPORT(DivideTotalsBackward);

template <class T>
void append_ones(const T* values, const bool* padding, float* with_ones, ValueRows shape) {
  CACHET_DISPATCH(AppendOnes, T)(values, padding, with_ones, shape);
}
void dot_rows(const float* matrix, const float* vector, bool add, float* sums, ValueRows shape) {
  HWY_DYNAMIC_DISPATCH(DotRows)(matrix, vector, add, sums, shape);
}
template <class T>
void divide_totals(const float* numerators, const float* denominators, float eps, T* out, float* divisors,
                   ValueRows shape) {
  CACHET_DISPATCH(DivideTotals, T)(numerators, denominators, eps, out, divisors, shape);
}
template <class T>
void divide_totals_backward(const T* out, const float* divisors, const T* grad, int64_t grad_stride, float* d_totals,
                            ValueRows shape) {
  CACHET_DISPATCH(DivideTotalsBackward, T)(out, divisors, grad, grad_stride, d_totals, shape);
}

void clear_above_diagonal(float* square, int64_t size) {
  for (int64_t row = 0; row < size; ++row) std::fill(square + row * size + row + 1, square + (row + 1) * size, 0.0f);
}

#define CACHET_FORMS(T)                                                                  \
  template void append_ones(const T*, const bool*, float*, ValueRows);                   \
  template void divide_totals(const float*, const float*, float, T*, float*, ValueRows); \
  template void divide_totals_backward(const T*, const float*, const T*, int64_t, float*, ValueRows);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
