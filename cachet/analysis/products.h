#pragma once

#include <cstdint>

namespace cachet::analysis {

/// Multiply–accumulates, apart as papers count them: those of linear layers and convolutions, which tables of models
/// report, and those of attention (queries with keys, weights with values), which they leave out.
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
