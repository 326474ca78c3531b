#include "cachet/kernels/feature_units.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/feature_units.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

// Each unit is a function of a, or of a and its gate g, and its derivatives.

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
      const auto a = hn::LoadU(d, products + i), gate = Sigmoid(d, hn::LoadU(d, products + s.width + i));
      const auto gated = hn::Mul(hn::LoadU(d, d_features + i), gate);
      hn::StoreU(hn::Mul(gated, Inner::Slope(d, a, a)), d, d_products + i);
      const auto rest = hn::Sub(hn::Set(d, 1.0f), gate);
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

}  // namespace cachet::kernels
#endif
