#include "cachet/nn/layers/affine.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include "cachet/ops/norm/scale_shift.h"

namespace cachet::nn {

at::Tensor Affine::apply(const at::Tensor& x) const {
  // Weights may be stored narrow; the map is not, and is at least as wide as what it maps.
  const auto wide = c10::promoteTypes(c10::promoteTypes(scale.scalar_type(), at::kFloat), x.scalar_type());
  return ops::scale_shift(x, scale.to(wide), shift.to(wide));
}

Affine Affine::narrow(int64_t first, int64_t count) const {
  return {scale.narrow(0, first, count), shift.narrow(0, first, count)};
}

void fold_input_affine(const char* owner, const Affine& before, const at::Tensor& weight, const at::Tensor& bias) {
  TORCH_CHECK(before.scale.numel() == weight.size(1) && before.shift.numel() == weight.size(1), owner,
              ": an affine map to fold in must have ", weight.size(1), " channels, got ", before.scale.numel());
  const at::NoGradGuard no_grad;
  const at::Tensor columns = weight.to(at::kDouble).reshape({weight.size(0), weight.size(1), -1});
  const auto channels = [](const at::Tensor& x) { return x.to(at::kDouble).view({1, -1, 1}); };
  bias.copy_(bias.to(at::kDouble) + (columns * channels(before.shift)).sum({1, 2}));
  weight.copy_((columns * channels(before.scale)).view(weight.sizes()));
}

void fold_output_affine(const char* owner, const Affine& after, const at::Tensor& weight, const at::Tensor& bias) {
  TORCH_CHECK(after.scale.numel() == weight.size(0) && after.shift.numel() == weight.size(0), owner,
              ": an affine map to fold in after this layer must have ", weight.size(0), " channels, got ",
              after.scale.numel());
  const at::NoGradGuard no_grad;
  const at::Tensor scale = after.scale.to(at::kDouble);
  bias.copy_(bias.to(at::kDouble) * scale + after.shift.to(at::kDouble));
  weight.copy_((weight.to(at::kDouble).reshape({weight.size(0), -1}) * scale.unsqueeze(1)).view(weight.sizes()));
}

}  // namespace cachet::nn
