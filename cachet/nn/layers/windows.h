#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/nn/layers/token_permutation.h"
#include "cachet/nn/layout.h"

namespace cachet::nn {

/// How a map is cut into windows (Swin, arXiv 2103.14030, Sec. 3.2).
enum class WindowOrder {
  shift_then_pad,  // as timm and the classification code: the shift wraps around the map, zeros fill the last windows
  pad_then_shift,  // as the detection code: the shift wraps around the padded map
};

/// Throws c10::Error unless the window has slots and the shift is at least 0 and less than the window.
void check_windows(const Grid& window, const Grid& shift);

/// The windows of one map: where each token goes, and which tokens of a window may see each other.
class Windows {
 public:
  /// shift: rows and columns by which the map is rolled up and left before it is cut; below the window's size.
  Windows(const Grid& map, const Grid& window, const Grid& shift, WindowOrder order, const at::Device& device);

  /// tokens (B, H·W, C) -> (B·windows, h·w, C). Where a window reaches beyond the map stands `beyond` (C), or zeros
  /// where that is undefined.
  at::Tensor partition(const at::Tensor& tokens, const at::Tensor& beyond = {}) const;
  /// The inverse: (B·windows, h·w, C) -> (B, H·W, C).
  at::Tensor merge(const at::Tensor& windows) const;

  /// What keeps apart the tokens that only a shift brought together: (windows, 1, h·w, h·w), 0 or −∞; undefined without
  /// a shift.
  const at::Tensor& mask() const { return mask_; }
  const Grid& map() const { return map_; }
  at::Device device() const { return order_.device(); }

 private:
  Grid map_, window_;
  int64_t count_;  // windows of a map
  TokenPermutation order_;
  at::Tensor mask_, outside_;  // outside_: (slots, 1), 1 beyond the map; undefined where no window reaches there
};

}  // namespace cachet::nn
