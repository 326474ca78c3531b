#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

// Boxes are (…, 4): x0, y0, x1, y1, pixel corners; nothing is added to a side.

/// Outputs of heads, in float32 if they are narrower: positions in a photograph do not fit bfloat16's eight bits.
at::Tensor widened(const at::Tensor& x);

/// boxes (n, 4), others (m, 4) -> (n, m): intersection over union, 0 where the union is empty.
at::Tensor box_iou(const at::Tensor& boxes, const at::Tensor& others);
/// The same over the area of `boxes`: how much of each lies within another.
at::Tensor box_share(const at::Tensor& boxes, const at::Tensor& others);

/// Boxes with every corner brought into an image.
at::Tensor clip_boxes(const at::Tensor& boxes, const ImageSize& size);

/// (n) bool: whether both sides are above `least`.
at::Tensor has_sides_above(const at::Tensor& boxes, double least);

/// boxes (n, 4) of one image of a batch -> (n, 5), the image first, as ops::roi_align takes them.
at::Tensor with_image(const at::Tensor& boxes, size_t image);

/// Boxes of a batch's image in pixels of the original one.
at::Tensor in_original(const at::Tensor& boxes, const DetectionImage& place);

}  // namespace cachet::models
