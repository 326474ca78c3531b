#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <string>
#include <vector>

namespace cachet::test {

/// Holds the gradients of a scalar function of float64 tensors to central differences, element by element. Step and
/// tolerances are those of torch.autograd.gradcheck: a difference of step 1e-6 has an error of about 1e-10/1e-6.
inline void expect_gradients(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                             std::vector<at::Tensor> inputs) {
  constexpr double kStep = 1e-6, kAbsolute = 1e-5, kRelative = 1e-3;
  for (at::Tensor& input : inputs) input = input.detach().to(at::kDouble).clone().requires_grad_();
  const auto gradients = torch::autograd::grad({function(inputs)}, inputs, {}, /*retain_graph=*/{},
                                               /*create_graph=*/false, /*allow_unused=*/true);
  at::NoGradGuard no_grad;
  for (size_t i = 0; i < inputs.size(); ++i) {
    at::Tensor flat = inputs[i].view(-1);
    const at::Tensor gradient = gradients[i].defined() ? gradients[i].reshape(-1) : at::zeros_like(flat);
    for (int64_t j = 0; j < flat.numel(); ++j) {
      const double x = flat[j].item<double>();
      flat[j].fill_(x + kStep);
      const double up = function(inputs).item<double>();
      flat[j].fill_(x - kStep);
      const double down = function(inputs).item<double>();
      flat[j].fill_(x);
      const double expected = (up - down) / (2 * kStep), actual = gradient[j].item<double>();
      ASSERT_NEAR(actual, expected, kAbsolute + kRelative * std::abs(expected)) << "input " << i << ", element " << j;
    }
  }
}

}  // namespace cachet::test
