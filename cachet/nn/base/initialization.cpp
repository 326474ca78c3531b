#include "cachet/nn/base/initialization.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <torch/nn/init.h>

#include <cmath>
#include <limits>

namespace cachet::nn {
namespace {

thread_local bool weights_are_left = false;

double last_before_one(at::ScalarType type) {
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "truncated_normal_", [] {
    return 1 - static_cast<double>(std::numeric_limits<scalar_t>::epsilon()) / 2;
  });
}

}  // namespace

at::Tensor& truncated_normal_(at::Tensor& tensor, double standard_deviation) {
  if (weights_are_left) return tensor;
  at::NoGradGuard no_grad;
  // Uniform between the values of the distribution function at the cuts, then through its inverse.
  const double edge = std::erf(2.0 / standard_deviation / std::sqrt(2.0));
  tensor.uniform_(-edge, edge);
  // Where the cuts are many deviations away the edge rounds to 1, which the draw may then be, and the inverse of that
  // is infinite. Such a draw stands for all numbers nearer to the edge than to its neighbour: it becomes the middle of
  // them, the last number of the type before 1. No other draw changes.
  tensor.clamp_(-last_before_one(tensor.scalar_type()), last_before_one(tensor.scalar_type()));
  tensor.erfinv_().mul_(standard_deviation * std::sqrt(2.0)).clamp_(-2.0, 2.0);
  return tensor;
}

at::Tensor& normal_(at::Tensor& tensor, double standard_deviation) {
  if (weights_are_left) return tensor;
  at::NoGradGuard no_grad;
  return tensor.normal_(0.0, standard_deviation);
}

at::Tensor& convolution_normal_(at::Tensor& weight, int64_t groups) {
  if (weights_are_left) return weight;
  at::NoGradGuard no_grad;
  const int64_t fan_out = weight.size(0) / groups * weight.size(2) * weight.size(3);
  return weight.normal_(0.0, std::sqrt(2.0 / static_cast<double>(fan_out)));
}

at::Tensor& xavier_uniform_(at::Tensor& matrices) {
  if (weights_are_left) return matrices;
  at::NoGradGuard no_grad;
  const double edge = std::sqrt(6.0 / static_cast<double>(matrices.size(-1) + matrices.size(-2)));
  return matrices.uniform_(-edge, edge);
}

at::Tensor& convolution_xavier_uniform_(at::Tensor& weight) {
  if (weights_are_left) return weight;
  at::NoGradGuard no_grad;
  at::Tensor taps = weight.permute({2, 3, 0, 1}).contiguous();
  xavier_uniform_(taps);
  return weight.copy_(taps.permute({2, 3, 0, 1}) / static_cast<double>(weight.size(2)));
}

at::Tensor& orthogonal_(at::Tensor& matrices) {
  if (weights_are_left) return matrices;
  at::NoGradGuard no_grad;
  const auto [q, r] = at::linalg_qr(at::randn(matrices.sizes(), matrices.options().dtype(at::kDouble)));
  // With the signs of R's diagonal the distribution is uniform over all orthogonal matrices.
  matrices.copy_(q * r.diagonal(0, -2, -1).sign().unsqueeze(-2));
  return matrices;
}

at::Tensor& scale_(at::Tensor& weights, double factor) {
  if (weights_are_left) return weights;
  at::NoGradGuard no_grad;
  return weights.mul_(factor);
}

at::Tensor zeros(at::IntArrayRef sizes) { return weights_are_left ? at::empty(sizes) : at::zeros(sizes); }

ConvolutionWeights convolution_weights(int64_t outputs, int64_t inputs, int64_t side) {
  ConvolutionWeights drawn{at::empty({outputs, inputs, side, side}), at::empty({outputs})};
  if (weights_are_left) return drawn;
  const at::NoGradGuard no_grad;
  torch::nn::init::kaiming_uniform_(drawn.weight, std::sqrt(5.0));
  const double edge = 1 / std::sqrt(static_cast<double>(inputs * side * side));
  drawn.bias.uniform_(-edge, edge);
  return drawn;
}

WithoutInitialization::WithoutInitialization() : before_(weights_are_left) { weights_are_left = true; }
WithoutInitialization::~WithoutInitialization() { weights_are_left = before_; }

}  // namespace cachet::nn
