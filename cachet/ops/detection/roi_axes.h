#pragma once

#include <cstdint>
#include <vector>

#include "cachet/kernels/roi_align.h"

namespace cachet::ops {

/// The number of cells of a feature map and the number of bins of a box, both along one axis.
struct RoiBins {
  int64_t bins = 0, cells = 0;
  int64_t sampling = 0;  // number of samples of a bin; 0: ⌈length / bins⌉
};

/// The cells that the bins of boxes read along one axis, and the weights of the cells. The cells and weights of one box
/// are stored after those of the previous box.
class RoiAxes {
 public:
  explicit RoiAxes(RoiBins bins) : bins_(bins) {}

  /// Appends a box. `start` is the start of the box and `length` its length, both in cells. The centre of cell 0 is at
  /// the coordinate 0.
  void append(double start, double length);
  kernels::RoiAxis operator[](int64_t box) const;

 private:
  void append_bin(double low, double spacing, double samples);

  RoiBins bins_;
  std::vector<int64_t> first_, offset_{0};
  std::vector<float> weights_;
};

}  // namespace cachet::ops
