#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cachet::test {

/// The device that CACHET_TEST_DEVICE names ("cuda"), for the tests called *OnDevice*, which skip without it. They pass
/// on "cpu" too. Convolutions, which take TF32 by default (1e-3 a rounding), take float32 from then on.
inline std::optional<c10::Device> test_device() {
  const char* name = std::getenv("CACHET_TEST_DEVICE");
  if (name == nullptr || *name == '\0') return std::nullopt;
  at::globalContext().setAllowTF32CuDNN(false);
  return c10::Device(name);
}

/// Runs `function` over the inputs in float64 on the CPU, then in float32 on the device, and holds the outputs and the
/// gradients of their weighted sums to each other. `tolerance` is relative to the largest element: float32 has 1e-7 a
/// rounding, and sums of thousands of terms stay below 1e-4.
inline void expect_same_on_device(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                                  const std::vector<at::Tensor>& inputs, c10::Device device, double tolerance = 1e-4) {
  const auto run = [&](c10::Device where, at::ScalarType type) {
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& input : inputs)
      leaves.push_back(input.is_floating_point() ? input.detach().to(where, type).clone().requires_grad_()
                                                 : input.to(where));
    const at::Tensor output = function(leaves);
    EXPECT_EQ(output.device().type(), where.type());
    (output * at::linspace(-1, 1, output.numel(), output.options()).view(output.sizes())).sum().backward();
    std::vector<at::Tensor> results{output.detach()};
    for (const at::Tensor& leaf : leaves)
      if (leaf.is_floating_point()) results.push_back(leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf));
    return results;
  };
  const auto expected = run(c10::kCPU, at::kDouble), found = run(device, at::kFloat);
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const at::Tensor difference = (found[i].cpu().to(at::kDouble) - expected[i]).abs();
    if (difference.numel() == 0) continue;
    EXPECT_LE(difference.max().item<double>(), tolerance * (1 + expected[i].abs().max().item<double>()))
        << (i == 0 ? "the output" : "the gradient of input " + std::to_string(i - 1));
  }
}

}  // namespace cachet::test
