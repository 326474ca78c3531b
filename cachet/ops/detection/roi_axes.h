#pragma once

#include <cstdint>
#include <vector>

#include "cachet/kernels/roi_align.h"

namespace cachet::ops {

/// One axis of a map of cells, and the bins on it.
struct RoiBins {
  int64_t bins = 0, cells = 0;
  int64_t sampling = 0;  // number of samples in a bin; 0: ⌈length / bins⌉
};

/// The cells and weights that the bins of many boxes read along one axis, one box after the other.
class RoiAxes {
 public:
  explicit RoiAxes(RoiBins bins) : bins_(bins) {}

  /// Appends a box with this start and length in cells. The centre of cell 0 is at 0.
  void append(double start, double length);
  kernels::RoiAxis operator[](int64_t box) const;

 private:
  void append_bin(double low, double spacing, double samples);

  RoiBins bins_;
  std::vector<int64_t> first_, offset_{0};
  std::vector<float> weights_;
};

}  // namespace cachet::ops
