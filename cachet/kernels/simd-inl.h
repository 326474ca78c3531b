// Helpers of all SIMD kernels. This file is compiled once for each instruction set: include it after foreach_target.h.
#if defined(CACHET_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHET_KERNELS_SIMD_INL_H_
#undef CACHET_KERNELS_SIMD_INL_H_
#else
#define CACHET_KERNELS_SIMD_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<float>;

/// Calls step(d, i) for each whole SIMD vector of type D, where i is the index of the vector's first element. Returns
/// the index of the first element that no whole vector contains.
template <class D, class Step>
HWY_INLINE int64_t Steps(D d, int64_t i, int64_t count, const Step& step) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) step(d, i);
  return i;
}

/// Calls step(tag, i) for the elements that remain after whole vectors, in parts of 8, 4, 2 and 1 elements (if smaller
/// than a vector). If the elements after the whole vectors were computed one by one, a row of 24 elements would take
/// longer than a row of 128 elements.
template <class Step>
HWY_INLINE void ForEachPart(int64_t i, int64_t count, const Step& step) {
  constexpr size_t kWhole = hn::MaxLanes(Wide());
  if constexpr (kWhole > 8) i = Steps(hn::CappedTag<float, 8>(), i, count, step);
  if constexpr (kWhole > 4) i = Steps(hn::CappedTag<float, 4>(), i, count, step);
  if constexpr (kWhole > 2) i = Steps(hn::CappedTag<float, 2>(), i, count, step);
  if constexpr (kWhole > 1) Steps(hn::CappedTag<float, 1>(), i, count, step);
}

/// Calls step(tag, i) for all elements from 0 to `count`, in whole vectors of float32 and then in parts of a vector.
template <class Step>
HWY_INLINE void ForEachVector(int64_t count, const Step& step) {
  ForEachPart(Steps(Wide(), 0, count, step), count, step);
}

/// Returns the sum over a row. add(tag, i, sum) returns `sum` plus the terms of the SIMD vector at element i.
template <class Add>
HWY_INLINE float SumOfRow(int64_t count, const Add& add) {
  auto sums = hn::Zero(Wide());
  const int64_t rest = Steps(Wide(), 0, count, [&](auto d, int64_t i) { sums = add(d, i, sums); });
  float sum = hn::GetLane(hn::SumOfLanes(Wide(), sums));
  ForEachPart(rest, count, [&](auto d, int64_t i) { sum += hn::GetLane(hn::SumOfLanes(d, add(d, i, hn::Zero(d)))); });
  return sum;
}

template <class D>
HWY_INLINE hn::Vec<D> LoadFloat(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadFloat(D d, const BFloat16* from) {
  const hn::Rebind<uint16_t, D> narrow;
  const hn::RebindToUnsigned<D> wide;
  const auto bits = hn::LoadU(narrow, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, bits)));
}

template <class D>
HWY_INLINE void StoreFloat(hn::Vec<D> value, D d, float* to) {
  hn::StoreU(value, d, to);
}

/// Rounds a value to the nearest BFloat16 (ties to even) and stores it. NaN stays NaN.
template <class D>
HWY_INLINE void StoreFloat(hn::Vec<D> value, D, BFloat16* to) {
  const hn::Rebind<uint16_t, D> narrow;
  const hn::RebindToUnsigned<D> wide;
  const hn::RebindToSigned<D> wide_signed;
  const auto bits = hn::BitCast(wide, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(wide, 0x7FFF))));
  const auto number = hn::RebindMask(wide, hn::Eq(value, value));
  const auto kept = hn::IfThenElse(number, rounded, hn::Set(wide, 0x7FC0));
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(wide_signed, kept)), narrow, reinterpret_cast<uint16_t*>(to));
}

/// Returns e^min(x, 88), or NaN if x is NaN. For all callers, e⁸⁸ has the same effect as +∞.
template <class D>
HWY_INLINE hn::Vec<D> BoundedExp(D d, hn::Vec<D> x) {
  // The function Exp of the library Highway returns 0 for NaN.
  return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, hn::Min(x, hn::Set(d, 88.0f))), x);
}

/// Returns eˣ, with an error of at most 4 units of 2⁻²⁴, or 0 if eˣ is not a normal number. x must be ≤ 0 and not NaN.
template <class D>
HWY_INLINE hn::Vec<D> ExpOfNegative(D d, hn::Vec<D> x) {
  // The result is computed as 2ⁿ·eʳ with |r| ≤ log(2)/2: n·log 2 is subtracted in two parts, eʳ is a polynomial, and n
  // is added to the exponent bits.
  const hn::RebindToSigned<D> whole;
  const auto least = hn::Set(d, -87.33f);
  const auto n = hn::Round(hn::Mul(hn::Max(x, least), hn::Set(d, 1.44269504f)));
  const auto r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  const auto upper = hn::MulAdd(r, hn::Set(d, 8.31252e-3f), hn::Set(d, 4.189016e-2f));
  const auto lower = hn::MulAdd(r, hn::Set(d, 1.6667115e-1f), hn::Set(d, 4.9999231e-1f));
  const auto square = hn::Mul(r, r);
  const auto fitted = hn::Add(hn::MulAdd(square, hn::MulAdd(square, upper, lower), r), hn::Set(d, 1.0f));
  const auto bits = hn::Add(hn::BitCast(whole, fitted), hn::ShiftLeft<23>(hn::ConvertTo(whole, n)));
  return hn::IfThenElseZero(hn::Ge(x, least), hn::BitCast(d, bits));
}

/// Returns σ(x) = 1 / (1 + e⁻ˣ), or NaN if x is NaN.
template <class D>
HWY_INLINE hn::Vec<D> Sigmoid(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f), e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
  const auto value = hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
  return hn::IfThenElse(hn::Eq(x, x), value, x);
}

/// Returns log(1 + eˣ) = max(x, 0) + log(1 + e^−|x|).
template <class D>
HWY_INLINE hn::Vec<D> Softplus(D d, hn::Vec<D> x) {
  // hn::Max would not return NaN.
  const auto positive = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  return hn::Add(positive, hn::Log1p(d, BoundedExp(d, hn::Neg(hn::Abs(x)))));
}

/// Returns the error function of x with an error of at most 4e-7: x·P(x²)/Q(x²), fitted to |x| <= 4. At x = 4, the
/// error function differs from 1 by 2e-8. A formula with an exponential would be slower: one exponential takes longer
/// than the whole function Erf().
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V x) {
  const auto one = hn::Set(d, 1.0f), end = hn::Set(d, 4.0f);
  const auto y = hn::Max(hn::Min(x, end), hn::Neg(end)), t = hn::Mul(y, y);
  auto p = hn::Set(d, 1.974559154e-6f), q = hn::Set(d, 3.747325172e-5f);
  p = hn::MulAdd(p, t, hn::Set(d, 2.879516978e-4f)), q = hn::MulAdd(q, t, hn::Set(d, 1.215802855e-3f));
  p = hn::MulAdd(p, t, hn::Set(d, 4.001731984e-3f)), q = hn::MulAdd(q, t, hn::Set(d, 1.544072200e-2f));
  p = hn::MulAdd(p, t, hn::Set(d, 5.346167088e-2f)), q = hn::MulAdd(q, t, hn::Set(d, 1.164599285e-1f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.962108165e-1f)), q = hn::MulAdd(q, t, hn::Set(d, 5.072184801e-1f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.128378987f)), q = hn::MulAdd(q, t, one);
  return hn::Max(hn::Min(hn::Div(hn::Mul(y, p), q), one), hn::Neg(one));
}

/// Returns Φ(x) = (1 + erf(x/√2))/2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NormalDistribution(D d, V x) {
  const auto half = hn::Set(d, 0.5f);
  return hn::MulAdd(half, Erf(d, hn::Mul(x, hn::Set(d, 0.70710678f))), half);
}

/// Returns x·Φ(x). If x is NaN, the result is NaN, although the function Erf returns a number for NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Gelu(D d, V x) {
  return hn::Mul(x, NormalDistribution(d, x));
}

/// Returns the derivative of GELU, Φ(x) + x·e^(−x²/2)/√(2π).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluSlope(D d, V x) {
  const auto density = BoundedExp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
  return hn::MulAdd(hn::Mul(x, hn::Set(d, 0.39894228f)), density, NormalDistribution(d, x));
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
