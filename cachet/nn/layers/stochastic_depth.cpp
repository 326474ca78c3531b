#include "cachet/nn/layers/stochastic_depth.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

namespace cachet::nn {

at::Tensor stochastic_depth(const at::Tensor& branch, double rate, bool training) {
  if (!training || rate == 0.0) return branch;
  std::vector<int64_t> shape(branch.dim(), 1);
  shape[0] = branch.size(0);
  const double keep = 1.0 - rate;
  return branch * at::empty(shape, branch.options().requires_grad(false)).bernoulli_(keep).div_(keep);
}

double stochastic_depth_of(double last, int64_t block, int64_t blocks) {
  return blocks > 1 ? last * static_cast<double>(block) / static_cast<double>(blocks - 1) : 0.0;
}

}  // namespace cachet::nn
