#include "cachet/kernels/feature_units.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/feature_units.cpp"
#include <hwy/foreach_target.h>
// Behind the one above.
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

// Each unit is a function of a, or of a and its gate g, and its derivatives; Value() and Slopes() are called with them.

struct EluPlusOne {
  static constexpr bool kGated = false;
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Value(D d, V a, V) {
    return hn::IfThenElse(hn::Gt(a, hn::Zero(d)), hn::Add(a, hn::Set(d, 1.0f)), BoundedExp(d, a));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Slope(D d, V a, V) {
    return hn::IfThenElse(hn::Gt(a, hn::Zero(d)), hn::Set(d, 1.0f), BoundedExp(d, a));
  }
};

struct SoftplusUnit {
  static constexpr bool kGated = false;
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Value(D d, V a, V) {
    return Softplus(d, a);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Slope(D d, V a, V) {
    return Sigmoid(d, a);
  }
};

struct GeluUnit {
  static constexpr bool kGated = false;
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Value(D d, V a, V) {
    return Gelu(d, a);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Slope(D d, V a, V) {
    return GeluSlope(d, a);
  }
};

struct SigmoidUnit {
  static constexpr bool kGated = false;
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Value(D d, V a, V) {
    return Sigmoid(d, a);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Slope(D d, V a, V) {
    const auto s = Sigmoid(d, a);
    return hn::Mul(s, hn::Sub(hn::Set(d, 1.0f), s));
  }
};

/// f(a) ⊙ σ(g): derivatives f'(a)·σ(g) and f(a)·σ(g)(1 − σ(g)).
template <class Inner>
struct Gated {
  static constexpr bool kGated = true;
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Value(D d, V a, V g) {
    return hn::Mul(Inner::Value(d, a, g), Sigmoid(d, g));
  }
};

struct Identity {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Value(D, V a, V) {
    return a;
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Slope(D d, V, V) {
    return hn::Set(d, 1.0f);
  }
};

template <class Unit>
HWY_INLINE void Forward(const float* products, float* features, UnitRows s) {
  for (int64_t row = 0; row < s.rows; ++row, products += s.stride, features += s.width)
    ForEachVector(s.width, [&](auto d, int64_t i) {
      const auto a = hn::LoadU(d, products + i);
      if constexpr (Unit::kGated)
        hn::StoreU(Unit::Value(d, a, hn::LoadU(d, products + s.width + i)), d, features + i);
      else
        hn::StoreU(Unit::Value(d, a, a), d, features + i);
    });
}

template <class Unit>
HWY_INLINE void Backward(const float* products, const float* d_features, float* d_products, UnitRows s) {
  for (int64_t row = 0; row < s.rows; ++row, products += s.stride, d_features += s.width, d_products += s.width)
    ForEachVector(s.width, [&](auto d, int64_t i) {
      const auto a = hn::LoadU(d, products + i);
      hn::StoreU(hn::Mul(hn::LoadU(d, d_features + i), Unit::Slope(d, a, a)), d, d_products + i);
    });
}

template <class Inner>
HWY_INLINE void GatedBackward(const float* products, const float* d_features, float* d_products, UnitRows s) {
  for (int64_t row = 0; row < s.rows; ++row, products += s.stride, d_features += s.width, d_products += 2 * s.width)
    ForEachVector(s.width, [&](auto d, int64_t i) {
      const auto a = hn::LoadU(d, products + i), share = Sigmoid(d, hn::LoadU(d, products + s.width + i));
      const auto gated = hn::Mul(hn::LoadU(d, d_features + i), share);
      hn::StoreU(hn::Mul(gated, Inner::Slope(d, a, a)), d, d_products + i);
      const auto rest = hn::Sub(hn::Set(d, 1.0f), share);
      hn::StoreU(hn::Mul(hn::Mul(gated, rest), Inner::Value(d, a, a)), d, d_products + s.width + i);
    });
}

void Unit(FeatureUnit unit, const float* products, float* features, UnitRows s) {
  switch (unit) {
    case FeatureUnit::elu_plus_one:
      return Forward<EluPlusOne>(products, features, s);
    case FeatureUnit::softplus:
      return Forward<SoftplusUnit>(products, features, s);
    case FeatureUnit::gelu:
      return Forward<GeluUnit>(products, features, s);
    case FeatureUnit::sigmoid:
      return Forward<SigmoidUnit>(products, features, s);
    case FeatureUnit::glu:
      return Forward<Gated<Identity>>(products, features, s);
    case FeatureUnit::softplus_glu:
      return Forward<Gated<SoftplusUnit>>(products, features, s);
  }
}

void UnitBackward(FeatureUnit unit, const float* products, const float* d_features, float* d_products, UnitRows s) {
  switch (unit) {
    case FeatureUnit::elu_plus_one:
      return Backward<EluPlusOne>(products, d_features, d_products, s);
    case FeatureUnit::softplus:
      return Backward<SoftplusUnit>(products, d_features, d_products, s);
    case FeatureUnit::gelu:
      return Backward<GeluUnit>(products, d_features, d_products, s);
    case FeatureUnit::sigmoid:
      return Backward<SigmoidUnit>(products, d_features, d_products, s);
    case FeatureUnit::glu:
      return GatedBackward<Identity>(products, d_features, d_products, s);
    case FeatureUnit::softplus_glu:
      return GatedBackward<SoftplusUnit>(products, d_features, d_products, s);
  }
}

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

HWY_EXPORT(Unit);
HWY_EXPORT(UnitBackward);

void feature_unit(FeatureUnit unit, const float* products, float* features, UnitRows shape) {
  HWY_DYNAMIC_DISPATCH(Unit)(unit, products, features, shape);
}
void feature_unit_backward(FeatureUnit unit, const float* products, const float* d_features, float* d_products,
                           UnitRows shape) {
  HWY_DYNAMIC_DISPATCH(UnitBackward)(unit, products, d_features, d_products, shape);
}

namespace scalar {

struct Point {
  float value, to_a, to_g;  // the unit and its derivatives
};

inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

inline Point unit_at(FeatureUnit unit, float a, float g) {
  const float softplus = std::fmax(a, 0.0f) + std::log1p(std::exp(-std::fabs(a))), s = sigmoid(a), share = sigmoid(g);
  switch (unit) {
    case FeatureUnit::elu_plus_one:
      return {a > 0 ? a + 1 : std::exp(a), a > 0 ? 1.0f : std::exp(a), 0};
    case FeatureUnit::softplus:
      return {softplus, s, 0};
    case FeatureUnit::gelu: {
      const float phi = 0.5f * (1.0f + std::erf(a * 0.70710678f));
      return {a * phi, phi + a * 0.39894228f * std::exp(-0.5f * a * a), 0};
    }
    case FeatureUnit::sigmoid:
      return {s, s * (1 - s), 0};
    case FeatureUnit::glu:
      return {a * share, share, a * share * (1 - share)};
    case FeatureUnit::softplus_glu:
      break;
  }
  return {softplus * share, s * share, softplus * share * (1 - share)};
}

inline bool is_gated(FeatureUnit unit) { return unit == FeatureUnit::glu || unit == FeatureUnit::softplus_glu; }

Point unit_at(FeatureUnit unit, const float* products, UnitRows s, int64_t row, int64_t i) {
  const float* at = products + row * s.stride + i;
  return unit_at(unit, at[0], is_gated(unit) ? at[s.width] : 0.0f);
}

void feature_unit(FeatureUnit unit, const float* products, float* features, UnitRows s) {
  for (int64_t row = 0; row < s.rows; ++row)
    for (int64_t i = 0; i < s.width; ++i) features[row * s.width + i] = unit_at(unit, products, s, row, i).value;
}

void feature_unit_backward(FeatureUnit unit, const float* products, const float* d_features, float* d_products,
                           UnitRows s) {
  const int64_t columns = is_gated(unit) ? 2 * s.width : s.width;
  for (int64_t row = 0; row < s.rows; ++row)
    for (int64_t i = 0; i < s.width; ++i) {
      const Point at = unit_at(unit, products, s, row, i);
      const float g = d_features[row * s.width + i];
      d_products[row * columns + i] = g * at.to_a;
      if (is_gated(unit)) d_products[row * columns + s.width + i] = g * at.to_g;
    }
}

}  // namespace scalar
}  // namespace cachet::kernels
#endif
