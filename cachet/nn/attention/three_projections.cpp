#include "cachet/nn/attention/three_projections.h"

namespace cachet::nn {

std::array<torch::Tensor, 3> three_projections(const Linear& linear, size_t query_part, const torch::Tensor& query,
                                               const torch::Tensor& context) {
  if (query.is_same(context)) {
    const auto parts = linear.forward(query).chunk(3, -1);
    return {parts[0], parts[1], parts[2]};
  }
  const int64_t width = linear.weight.size(0) / 3;
  std::array<torch::Tensor, 3> parts;
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = linear.forward_part(i == query_part ? query : context, static_cast<int64_t>(i) * width, width);
  return parts;
}

}  // namespace cachet::nn
