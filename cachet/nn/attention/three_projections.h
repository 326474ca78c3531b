#pragma once

#include <array>

#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

/// Returns queries, keys and values: the parts of one weight (3·width, D), in the order of its rows. `query_part`: the
/// index of the part of the weight that computes the queries. Computes one product if query and context are one tensor,
/// and three products if they differ.
std::array<torch::Tensor, 3> three_projections(const Linear& linear, size_t query_part, const torch::Tensor& query,
                                               const torch::Tensor& context);

}  // namespace cachet::nn
