#include "cachet/nn/norm/scale_shift_norm.h"

namespace cachet::nn {

ScaleShiftNorm::ScaleShiftNorm(const Affine& affine) : Cloneable("ScaleShiftNorm") {
  weight = register_parameter("weight", affine.scale.detach().clone(), /*requires_grad=*/false);
  bias = register_parameter("bias", affine.shift.detach().clone(), /*requires_grad=*/false);
  eval();
}

torch::Tensor ScaleShiftNorm::forward(const torch::Tensor& x, const torch::Tensor&) {
  check_channels("scale_shift_norm", x, weight.size(0));
  return Affine{weight, bias}.apply(x);
}

std::optional<Affine> ScaleShiftNorm::inference_affine() const { return Affine{weight, bias}; }

}  // namespace cachet::nn
