#include "cachet/nn/layers/positions.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/stack.h>

#include <cmath>

namespace cachet::nn {
namespace {

// angle (positions, (dim + 1)/2) in float64: the published tables were made by NumPy.
at::Tensor angles_of(const at::Tensor& positions, int64_t dim) {
  const at::Tensor channel = at::arange((dim + 1) / 2, at::kDouble);
  const at::Tensor frequency = at::exp(channel * (-2 * std::log(10000.0) / static_cast<double>(dim)));
  return positions.unsqueeze(1) * frequency;
}

}  // namespace

at::Tensor sinusoidal_positions(int64_t tokens, int64_t dim, int64_t first) {
  const at::Tensor angle = angles_of(at::arange(first, first + tokens, at::kDouble), dim);
  return at::stack({angle.sin(), angle.cos()}, 2).flatten(1).narrow(1, 0, dim).unsqueeze(0).to(at::kFloat);
}

at::Tensor half_sinusoids(int64_t first, int64_t count, int64_t dim, const at::TensorOptions& options) {
  TORCH_CHECK(dim % 2 == 0 && dim >= 4,
              "half_sinusoids: the number of channels must be even and at least 4, for sines and cosines, got ", dim);
  const int64_t half = dim / 2;
  const at::Tensor frequency =
      at::exp(at::arange(half, at::kDouble) * (-std::log(10000.0) / static_cast<double>(half - 1)));
  const at::Tensor angle = at::arange(first, first + count, at::kDouble).unsqueeze(1) * frequency;
  return at::cat({angle.sin(), angle.cos()}, 1).to(options);
}

at::Tensor distance_sinusoids(int64_t length, int64_t dim, int64_t farthest, const at::TensorOptions& options) {
  TORCH_CHECK(dim % 2 == 0, "distance_sinusoids: the number of channels must be even, for sines and cosines, got ",
              dim);
  at::Tensor distances = at::arange(length - 1, -1, -1, at::kDouble);
  if (farthest > 0) distances = distances.clamp_max(farthest);
  const at::Tensor angle = angles_of(distances, dim);
  return at::cat({angle.sin(), angle.cos()}, 1).to(options);
}

}  // namespace cachet::nn
