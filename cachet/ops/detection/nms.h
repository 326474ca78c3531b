#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace cachet::ops {

/// Greedy non-maximum suppression. In descending order of scores, each box is selected unless its intersection over
/// union with a box that is already selected is above `threshold` (sides are x1 − x0, without + 1). Boxes with equal
/// scores stay in their original order. Boxes of different groups do not suppress each other.
///
/// boxes (n, 4) floating, x0 y0 x1 y1; scores (n) floating; groups (n) int64, absent: all boxes
/// are one group. Returns `order` (n) int64, the boxes by descending score, and `kept` (n) bool,
/// whether each box in that order is selected. The sizes do not depend on the values of the
/// boxes, so that the operator can be traced. The results have no gradient. bfloat16 boxes are computed
/// in float32. A box with a NaN coordinate, or without area, overlaps no box.
/// Throws c10::Error for other shapes.
std::tuple<at::Tensor, at::Tensor> nms(const at::Tensor& boxes, const at::Tensor& scores,
                                       const std::optional<at::Tensor>& groups, double threshold);

/// Returns the indices of the selected boxes, int64, in descending order of scores.
at::Tensor nms_indices(const at::Tensor& boxes, const at::Tensor& scores, const std::optional<at::Tensor>& groups,
                       double threshold);

}  // namespace cachet::ops
