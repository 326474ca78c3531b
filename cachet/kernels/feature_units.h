#pragma once

#include <cstdint>

#include "cachet/kernels/activations.h"

namespace cachet::kernels {

/// The units (activation functions) of a feature map, with their formulas in ops/attention/kernel_attention.h.
enum class FeatureUnit : int64_t { elu_plus_one, softplus, gelu, sigmoid, glu, softplus_glu };

/// The shapes of the two matrices of a unit: the products that it reads, and the features that it computes from them. A
/// row of `width` features comes from `width` numbers, or from 2·width numbers [a, g] if the unit is gated. Rows of
/// products are `stride` numbers apart; features are dense.
struct UnitRows {
  int64_t rows, width, stride;
};

/// Computes features (rows, width) = unit(products).
void feature_unit(FeatureUnit unit, const float* products, float* features, UnitRows shape);

/// Computes d_products (dense, in the order of products) from products and the gradient of features.
void feature_unit_backward(FeatureUnit unit, const float* products, const float* d_features, float* d_products,
                           UnitRows shape);

// --- one element -----------------------------------------------------------------------------------------------------

CACHET_HOST_DEVICE inline bool unit_is_gated(FeatureUnit unit) {
  return unit == FeatureUnit::glu || unit == FeatureUnit::softplus_glu;
}

/// The value of a feature unit with the input a (or [a, g] if the unit is gated), and its derivatives by a and g.
struct UnitPoint {
  float value, to_a, to_g;
};
CACHET_HOST_DEVICE inline UnitPoint unit_at(FeatureUnit unit, float a, float g) {
  const float s = sigmoid(a), gate = sigmoid(g);
  switch (unit) {
    case FeatureUnit::elu_plus_one:
      return {a > 0 ? a + 1 : std::exp(a), a > 0 ? 1.0f : std::exp(a), 0};
    case FeatureUnit::softplus:
      return {softplus(a), s, 0};
    case FeatureUnit::gelu:
      return {gelu(a), gelu_slope(a), 0};
    case FeatureUnit::sigmoid:
      return {s, s * (1 - s), 0};
    case FeatureUnit::glu:
      return {a * gate, gate, a * gate * (1 - gate)};
    case FeatureUnit::softplus_glu:
      break;
  }
  return {softplus(a) * gate, s * gate, softplus(a) * gate * (1 - gate)};
}

}  // namespace cachet::kernels
