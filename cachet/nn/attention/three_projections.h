#pragma once

#include <array>

#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

/// Returns queries, keys and values, in the row order of one weight (3·width, D), whose part `query_part` is that of
/// the queries. Computes one product if the query is the context, three if they differ.
std::array<torch::Tensor, 3> three_projections(const Linear& linear, size_t query_part, const torch::Tensor& query,
                                               const torch::Tensor& context);

}  // namespace cachet::nn
