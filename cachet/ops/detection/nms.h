#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace cachet::ops {

/// Greedy non-maximum suppression: of boxes in the order of falling scores, those are kept whose intersection over
/// union with none that is kept before is above `threshold` (no 1 is added to sides). Equal scores keep their order.
/// Boxes of different groups do not see each other.
///
/// boxes (n, 4) floating, x0 y0 x1 y1; scores (n) floating; groups (n) int64, all one where there is none. Returns
/// order (n) int64, the boxes by falling score, and kept (n) bool, of the boxes in that order: sizes do not depend on
/// what the boxes are, so that a program can be traced. Both are without a gradient. bfloat16 boxes are measured in
/// float32. A box with a coordinate that is no number, and one of no area, overlap nothing. Throws c10::Error for other
/// shapes.
std::tuple<at::Tensor, at::Tensor> nms(const at::Tensor& boxes, const at::Tensor& scores,
                                       const std::optional<at::Tensor>& groups, double threshold);

/// Their places, those of the highest scores first: (kept boxes) int64.
at::Tensor nms_indices(const at::Tensor& boxes, const at::Tensor& scores, const std::optional<at::Tensor>& groups,
                       double threshold);

}  // namespace cachet::ops
