#pragma once

#include "cachet/kernels/feature_units.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

inline UnitPoint unit_of_row(FeatureUnit unit, const float* products, UnitRows s, int64_t row, int64_t i) {
  const float* at = products + row * s.stride + i;
  return unit_at(unit, at[0], unit_is_gated(unit) ? at[s.width] : 0.0f);
}

inline void feature_unit(FeatureUnit unit, const float* products, float* features, UnitRows s) {
  for (int64_t row = 0; row < s.rows; ++row)
    for (int64_t i = 0; i < s.width; ++i) features[row * s.width + i] = unit_of_row(unit, products, s, row, i).value;
}

inline void feature_unit_backward(FeatureUnit unit, const float* products, const float* d_features, float* d_products,
                                  UnitRows s) {
  const int64_t columns = unit_is_gated(unit) ? 2 * s.width : s.width;
  for (int64_t row = 0; row < s.rows; ++row)
    for (int64_t i = 0; i < s.width; ++i) {
      const UnitPoint at = unit_of_row(unit, products, s, row, i);
      const float g = d_features[row * s.width + i];
      d_products[row * columns + i] = g * at.to_a;
      if (unit_is_gated(unit)) d_products[row * columns + s.width + i] = g * at.to_g;
    }
}

}  // namespace cachet::kernels::scalar
