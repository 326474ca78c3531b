#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

// Boxes are (…, 4): x0, y0, x1, y1, the corners in pixels. A side is the difference of two coordinates, without + 1.

/// Converts outputs of heads to float32 or wider. bfloat16's 8-bit precision is too low for positions in a photograph.
at::Tensor widened(const at::Tensor& x);

/// Returns the intersection over union (n, m) of boxes (n, 4) and others (m, 4). The ratio is 0 if the union of two
/// boxes is empty.
at::Tensor box_iou(const at::Tensor& boxes, const at::Tensor& others);
/// Returns (n, m): the fraction of the area of each of the `boxes` that lies within each of the `others`.
at::Tensor box_share(const at::Tensor& boxes, const at::Tensor& others);

/// Returns the boxes with every corner clipped to the image.
at::Tensor clip_boxes(const at::Tensor& boxes, const ImageSize& size);

/// Returns (n) bool: whether both sides of each box are above `least`.
at::Tensor has_sides_above(const at::Tensor& boxes, double least);

/// Returns the boxes (n, 4) of one image of a batch as (n, 5), with the image's index first, for ops::roi_align.
at::Tensor with_image(const at::Tensor& boxes, size_t image);

/// Converts the boxes of an image of a batch to pixels of the original image.
at::Tensor in_original(const at::Tensor& boxes, const DetectionImage& place);

}  // namespace cachet::models
