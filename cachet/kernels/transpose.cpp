#include "cachet/kernels/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/transpose.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A square of four rows and columns.
HWY_INLINE void TransposeFour(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
#if HWY_MAX_BYTES >= 16
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_stride);
  const auto r2 = hn::LoadU(d, from + 2 * from_stride), r3 = hn::LoadU(d, from + 3 * from_stride);
  // a0 b0 a1 b1 | a2 b2 a3 b3, and the same of c and d; then pairs of these.
  const auto ab_lower = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto ab_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto cd_lower = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto cd_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_lower, cd_lower)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_lower, cd_lower)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_upper, cd_upper)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_upper, cd_upper)), d, to + 3 * to_stride);
#else
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j) to[j * to_stride + i] = from[i * from_stride + j];
#endif
}

void Transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows, int64_t columns) {
  int64_t column = 0;
  // Down the rows first: each line of the result is then written from its start to its end.
  for (; column + 4 <= columns; column += 4) {
    int64_t row = 0;
    for (; row + 4 <= rows; row += 4)
      TransposeFour(from + row * from_stride + column, from_stride, to + column * to_stride + row, to_stride);
    for (; row < rows; ++row)
      for (int64_t j = column; j < column + 4; ++j) to[j * to_stride + row] = from[row * from_stride + j];
  }
  for (; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row) to[column * to_stride + row] = from[row * from_stride + column];
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

HWY_EXPORT(Transpose);

void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(Transpose)(from, from_stride, to, to_stride, rows, columns);
}

}  // namespace cachet::kernels
#endif
