// Sums of a tile stay in registers, as an array of vectors. Instruction sets whose vectors have no fixed length refuse
// such arrays: they take the next one.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include "cachet/kernels/small_product.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/small_product.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

// Vectors of a tile side by side, and rows of one so wide: as many sums as fit with what they are made of into 16
// vector registers (x86 before AVX-512) or 32.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int kWidest = 2;
constexpr int kTallest[] = {0, 12, 6};
#else
constexpr int kWidest = 4;
constexpr int kTallest[] = {0, 12, 12, 8, 6};
#endif

/// The first `count` numbers of a vector; no other memory is touched. What stands after them is zero.
HWY_INLINE hn::Vec<Wide> LoadFirst(const float* from, int64_t count) {
  const Wide d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
#else
  HWY_ALIGN float whole[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(from, count, whole);
  return hn::Load(d, whole);
#endif
}

HWY_INLINE void StoreFirst(hn::Vec<Wide> value, float* to, int64_t count) {
  const Wide d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
  HWY_ALIGN float whole[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(value, d, whole);
  std::copy_n(whole, count, to);
#endif
}

/// What a tile of columns is read from and written to. The last of its vectors has `last` numbers.
struct Columns {
  LeftMatrix left;
  DenseRows<const float> right;
  DenseRows<float> out;
  int64_t rows, inner, last;
  bool add;
};

template <int kRows, int kVectors, bool kWhole>
HWY_INLINE void MultiplyTile(const Columns& at) {
  const Wide d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto is_last = [](int c) { return !kWhole && c == kVectors - 1; };
  const auto load = [&](const float* row, int c) {
    return is_last(c) ? LoadFirst(row + c * lanes, at.last) : hn::LoadU(d, row + c * lanes);
  };
  hn::Vec<Wide> sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kVectors; ++c) sums[r][c] = at.add ? load(at.out.data + r * at.out.stride, c) : hn::Zero(d);
  const float* left = at.left.data;
  const float* right = at.right.data;
  for (int64_t i = 0; i < at.inner; ++i, left += at.left.column_stride, right += at.right.stride) {
    hn::Vec<Wide> across[kVectors];
    for (int c = 0; c < kVectors; ++c) across[c] = load(right, c);
    for (int r = 0; r < kRows; ++r) {
      const auto number = hn::Set(d, left[r * at.left.row_stride]);
      for (int c = 0; c < kVectors; ++c) sums[r][c] = hn::MulAdd(number, across[c], sums[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kVectors; ++c) {
      float* to = at.out.data + r * at.out.stride + c * lanes;
      if (is_last(c))
        StoreFirst(sums[r][c], to, at.last);
      else
        hn::StoreU(sums[r][c], d, to);
    }
}

template <int kVectors, bool kWhole>
HWY_INLINE void MultiplyColumns(Columns at) {
  constexpr int kMany = kTallest[kVectors], kSome = 4;
  const auto next = [&](int64_t count) {
    at.left.data += count * at.left.row_stride;
    at.out.data += count * at.out.stride;
    at.rows -= count;
  };
  for (; at.rows >= kMany; next(kMany)) MultiplyTile<kMany, kVectors, kWhole>(at);
  for (; at.rows >= kSome; next(kSome)) MultiplyTile<kSome, kVectors, kWhole>(at);
  for (; at.rows > 0; next(1)) MultiplyTile<1, kVectors, kWhole>(at);
}

template <int kVectors>
HWY_INLINE void MultiplyColumns(const Columns& at, bool whole) {
  if (whole)
    MultiplyColumns<kVectors, true>(at);
  else
    MultiplyColumns<kVectors, false>(at);
}

void SmallProduct(const LeftMatrix& left, const DenseRows<const float>& right, const DenseRows<float>& out, bool add,
                  const ProductShape& shape) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Wide()));
  Columns at{left, right, out, shape.rows, shape.inner, lanes, add};
  int64_t vectors = (shape.columns + lanes - 1) / lanes;
  const int64_t tiles = (vectors + kWidest - 1) / kWidest;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t width = (vectors + tiles - tile - 1) / (tiles - tile);  // about as many in each
    const bool whole = width < vectors || shape.columns % lanes == 0;
    if (!whole) at.last = shape.columns % lanes;
    if (width == 1) MultiplyColumns<1>(at, whole);
    if (width == 2) MultiplyColumns<2>(at, whole);
    if constexpr (kWidest > 2) {
      if (width == 3) MultiplyColumns<3>(at, whole);
      if (width == 4) MultiplyColumns<4>(at, whole);
    }
    vectors -= width;
    at.right.data += width * lanes;
    at.out.data += width * lanes;
  }
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

HWY_EXPORT(SmallProduct);

void small_gemm(const LeftMatrix& left, const DenseRows<const float>& right, const DenseRows<float>& out, bool add,
                const ProductShape& shape) {
  HWY_DYNAMIC_DISPATCH(SmallProduct)(left, right, out, add, shape);
}

}  // namespace cachet::kernels
#endif
