#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/nn/layers/token_permutation.h"
#include "cachet/nn/layout.h"

namespace cachet::nn {

/// The way in which a map is cut into windows (Swin, arXiv 2103.14030, Sec. 3.2).
enum class WindowOrder {
  shift_then_pad,  // the shift wraps around the map, then zeros fill the last windows (timm, classification code)
  pad_then_shift,  // the shift wraps around the padded map (detection code)
};

/// Throws c10::Error unless the window is at least 1 × 1 and the shift is at least 0 and less than the window.
void check_windows(const Grid& window, const Grid& shift);

/// A division of a map into windows, with the new position of each token, and with a mask for tokens of one window that
/// do not see each other.
class Windows {
 public:
  /// `shift` has the numbers of rows and columns by which the map is rolled up and left before it is cut. The shift
  /// must be smaller than the window in both dimensions.
  Windows(const Grid& map, const Grid& window, const Grid& shift, WindowOrder order, const at::Device& device);

  /// Cuts a map into windows: tokens (B, H·W, C) -> (B·windows, h·w, C). Where a window extends beyond the map, its
  /// values are `beyond` (C), or zeros if `beyond` is undefined.
  at::Tensor partition(const at::Tensor& tokens, const at::Tensor& beyond = {}) const;
  /// Joins windows to a map (the inverse of partition()): (B·windows, h·w, C) -> (B, H·W, C).
  at::Tensor merge(const at::Tensor& windows) const;

  /// Returns the mask of pairs of tokens that are neighbours only because of a shift: (windows, 1, h·w, h·w), 0 or −∞.
  /// Undefined without a shift.
  const at::Tensor& mask() const { return mask_; }
  const Grid& map() const { return map_; }
  at::Device device() const { return order_.device(); }

 private:
  Grid map_, window_;
  int64_t count_;  // number of windows of a map
  TokenPermutation order_;
  at::Tensor mask_, outside_;  // outside_: (slots, 1), 1 = beyond the map; undefined if no window extends beyond it
};

}  // namespace cachet::nn
