#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace cachet::ops {

/// Greedy non-maximum suppression. In the order of descending scores, a box is selected unless its intersection over
/// union with an earlier selected box is above `threshold` (no 1 is added to sides). Equal scores retain their order.
/// Boxes of different groups do not suppress each other.
///
/// boxes (n, 4) floating, x0 y0 x1 y1; scores (n) floating; groups (n) int64, absent: one
/// group. Returns `order` (n) int64, the boxes by descending score, and `kept` (n) bool,
/// whether each box in that order is selected. Sizes do not depend on the values of the
/// boxes, so that a program can be traced. The results have no gradient. bfloat16 boxes are computed
/// in float32. A box with a coordinate that is NaN and a box without area overlap no box.
/// Throws c10::Error for other shapes.
std::tuple<at::Tensor, at::Tensor> nms(const at::Tensor& boxes, const at::Tensor& scores,
                                       const std::optional<at::Tensor>& groups, double threshold);

/// Returns the indices of the selected boxes, int64, the highest scores first.
at::Tensor nms_indices(const at::Tensor& boxes, const at::Tensor& scores, const std::optional<at::Tensor>& groups,
                       double threshold);

}  // namespace cachet::ops
