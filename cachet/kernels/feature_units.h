#pragma once

#include <cstdint>

namespace cachet::kernels {

/// The units of a feature map (ops/kernel_attention.h has the same list with its formulas).
enum class FeatureUnit : int64_t { elu_plus_one, softplus, gelu, sigmoid, glu, softplus_glu };

/// Rows of a product: `width` features each, made from `width` numbers, or from [a, g], twice as many, where gated.
/// Rows of products lie `stride` numbers apart, rows of features side by side.
struct UnitRows {
  int64_t rows, width, stride;
};

/// features (rows, width) = unit(products).
void feature_unit(FeatureUnit unit, const float* products, float* features, UnitRows shape);

/// d_products, laid out as products but dense, from products and the gradient of features.
void feature_unit_backward(FeatureUnit unit, const float* products, const float* d_features, float* d_products,
                           UnitRows shape);

namespace scalar {

// The same, one element at a time: what the kernels above are tested against.
void feature_unit(FeatureUnit unit, const float* products, float* features, UnitRows shape);
void feature_unit_backward(FeatureUnit unit, const float* products, const float* d_features, float* d_products,
                           UnitRows shape);

}  // namespace scalar
}  // namespace cachet::kernels
