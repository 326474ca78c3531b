#include "cachet/nn/attention/heads.h"

#include "cachet/ops/support/wants_gradient.h"

namespace cachet::nn {

std::vector<torch::Tensor> split_heads(const torch::Tensor& x, int64_t n, int64_t heads, int64_t head_dim) {
  const torch::Tensor parts = x.unflatten(2, {n, heads, head_dim});
  // One transposition of all parts, which a program for inference makes where it likes.
  if (!ops::wants_gradient(x)) return parts.permute({2, 0, 3, 1, 4}).unbind(0);
  // Apart first: gradients, whose heads lie side by side, are then put together in one pass and not in two.
  std::vector<torch::Tensor> apart = parts.unbind(2);
  for (torch::Tensor& part : apart) part = part.transpose(1, 2);
  return apart;
}

}  // namespace cachet::nn
