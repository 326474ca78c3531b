#include "cachet/nn/layers/outliers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>

#include <vector>

namespace cachet::nn {

OutlierOptions read_outlier_options(const config::View& table) {
  OutlierOptions options;
  options.probability = table.real("probability", options.probability, {0.0, 1.0});
  options.share = table.real("share", options.share, {0.0, 1.0});
  options.scale = table.real("scale", options.scale, {-1e6, 1e6});
  return options;
}

at::Tensor with_outliers(const at::Tensor& x, int64_t row_dimensions, const OutlierOptions& options) {
  if (options.probability == 0.0) return x;
  const at::TensorOptions on_cpu(at::kDouble);
  if (at::rand({}, on_cpu).item<double>() >= options.probability) return x;
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  for (int64_t dimension = 0; dimension < row_dimensions; ++dimension)
    shape[static_cast<size_t>(dimension)] = x.size(dimension);
  const at::Tensor hit = at::rand(shape, on_cpu) < options.share;
  // A copy from pinned memory does not wait for earlier work of the GPU.
  at::Tensor factors = at::full(shape, 1.0, on_cpu).masked_fill_(hit, options.scale).to(x.scalar_type());
  if (x.is_cuda()) factors = factors.pin_memory();
  return x * factors.to(x.device(), /*non_blocking=*/!x.is_cpu());
}

}  // namespace cachet::nn
