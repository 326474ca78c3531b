#include "cachet/nn/norm/norm.h"

#include "cachet/nn/norm/no_norm.h"

namespace cachet::nn {

SplitNorm Norm::split() const {
  const auto affine = inference_affine();
  TORCH_CHECK(affine, name(), ": depends on its input and does not define its split into a norm and its weights");
  return {std::make_shared<NoNorm>(affine->scale.numel()), *affine};
}

void Norm::check_channels(const char* name, const torch::Tensor& x, int64_t channels) {
  TORCH_CHECK(x.dim() >= 1 && x.size(-1) == channels, name, ": takes (..., ", channels, "), got ", x.sizes());
}

}  // namespace cachet::nn
