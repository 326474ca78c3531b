#pragma once

#include <cstdint>
#include <vector>

#include "cachet/kernels/roi_align.h"

namespace cachet::ops {

/// One axis of a map: the number of its cells, and of the bins of a box along it.
struct RoiBins {
  int64_t bins = 0, cells = 0;
  int64_t sampling = 0;  // number of samples of a bin; 0: ⌈length / bins⌉
};

/// The cells and weights that the bins of boxes read along one axis. The boxes are stored one after another.
class RoiAxes {
 public:
  explicit RoiAxes(RoiBins bins) : bins_(bins) {}

  /// Appends a box. `start` and `length`: its start and length in cells. The centre of cell 0 is at 0.
  void append(double start, double length);
  kernels::RoiAxis operator[](int64_t box) const;

 private:
  void append_bin(double low, double spacing, double samples);

  RoiBins bins_;
  std::vector<int64_t> first_, offset_{0};
  std::vector<float> weights_;
};

}  // namespace cachet::ops
