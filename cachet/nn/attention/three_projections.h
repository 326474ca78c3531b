#pragma once

#include <array>

#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

/// Queries, keys and values by one weight (3·width, D), in the order of its rows, of which part `query_part` is the
/// queries': one product where the query is the context, three where they differ.
std::array<torch::Tensor, 3> three_projections(const Linear& linear, size_t query_part, const torch::Tensor& query,
                                               const torch::Tensor& context);

}  // namespace cachet::nn
