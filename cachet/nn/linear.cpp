#include "cachet/nn/linear.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "cachet/nn/initialization.h"
#include "cachet/ops/linear.h"

namespace cachet::nn {

Linear::Linear(int64_t inputs, int64_t outputs, bool with_bias) : torch::nn::Module("Linear") {
  weight = register_parameter("weight", at::empty({outputs, inputs}));
  truncated_normal_(weight);
  bias = register_parameter("bias", with_bias ? at::zeros({outputs}) : torch::Tensor(), /*requires_grad=*/with_bias);
}

torch::Tensor Linear::forward(const torch::Tensor& x) const {
  return ops::linear(x, weight, bias.defined() ? std::optional<torch::Tensor>(bias) : std::nullopt);
}

}  // namespace cachet::nn
