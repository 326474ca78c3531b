#include "cachet/nn/norm/norm.h"

#include <c10/core/ScalarType.h>

#include "cachet/ops/scale_shift.h"

namespace cachet::nn {

torch::Tensor Affine::apply(const torch::Tensor& x) const {
  // Weights may be stored narrow; the map is not.
  const auto wide = c10::promoteTypes(scale.scalar_type(), at::kFloat);
  return ops::scale_shift(x, scale.to(wide), shift.to(wide));
}

}  // namespace cachet::nn
