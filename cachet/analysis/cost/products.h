#pragma once

#include <cstdint>

namespace cachet::analysis {

/// The multiply–accumulates of a model in two columns, `attention` and `linear_convolution`. One rule for all kinds of
/// attention decides in which column a product is counted. The column `attention` counts the products between the
/// projection of queries, keys and values and the output of the heads: queries times keys, and weights times values.
/// For an attention function without a softmax, the column also includes the products of the feature map φ, of random
/// features and of hashes, trained or not. The column `linear_convolution` has all other products: projections into and
/// out of the heads, convolutions that reduce tokens, other linear layers and convolutions.
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
