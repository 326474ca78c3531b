#pragma once

#include <ATen/ops/isfinite.h>
#include <torch/nn/module.h>

namespace cachet::test {

/// Whether no buffer holds NaN or an infinity.
inline bool has_finite_state(const torch::nn::Module& model) {
  for (const at::Tensor& buffer : model.buffers())
    if (!buffer.isfinite().all().item<bool>()) return false;
  return true;
}

}  // namespace cachet::test
