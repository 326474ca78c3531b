#pragma once

#include <cstdint>

namespace cachet::analysis {

/// Multiply–accumulates, apart as tables of models have them. One rule for all kinds of attention: attention's are all
/// products between the projected queries, keys and values and what the heads give. These are queries with keys and
/// weights with values; for an attention function without a softmax also its feature map φ, random features and hashes,
/// trained or not. Projections into and out of the heads, convolutions that reduce tokens, other linear layers and
/// other convolutions are in the first column.
struct Products {
  int64_t linear_convolution = 0;
  int64_t attention = 0;

  Products& operator+=(const Products& other) {
    linear_convolution += other.linear_convolution;
    attention += other.attention;
    return *this;
  }
  bool operator==(const Products&) const = default;
};

}  // namespace cachet::analysis
