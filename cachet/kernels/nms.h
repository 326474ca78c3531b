#pragma once

#include <cmath>
#include <cstdint>

#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

/// Boxes as one array for each coordinate: box i is (x0[i], y0[i], x1[i], y1[i]).
struct BoxColumns {
  const float *x0, *y0, *x1, *y1;
  int64_t count;
};

/// Returns the size of the scratch memory of nms() for `count` boxes, in floats.
inline constexpr int64_t nms_space(int64_t count) {
  constexpr int64_t kWidestVector = 64;  // width in floats, with a margin
  return 5 * (count + kWidestVector);
}

/// Performs greedy non-maximum suppression of boxes in their order. `kept[i]` is 0 if box i overlaps an
/// earlier retained box by more than the threshold, else 1. The overlap is intersection / (area + area −
/// intersection), in float32. Each operation is rounded separately, so that decisions are the same on all
/// processors. An overlap of NaN is not above the threshold.
void nms(const BoxColumns& boxes, float threshold, uint8_t* kept, float* space);

// --- one element -----------------------------------------------------------------------------------------------------

/// Whether the retained box k removes box i, which is later in the order.
CACHET_HOST_DEVICE inline bool removes(const BoxColumns& b, int64_t k, int64_t i, float threshold) {
  const float width = std::fmax(std::fmin(b.x1[i], b.x1[k]) - std::fmax(b.x0[i], b.x0[k]), 0.0f);
  const float height = std::fmax(std::fmin(b.y1[i], b.y1[k]) - std::fmax(b.y0[i], b.y0[k]), 0.0f);
  const float areas = (b.x1[i] - b.x0[i]) * (b.y1[i] - b.y0[i]) + (b.x1[k] - b.x0[k]) * (b.y1[k] - b.y0[k]);
  const float shared = width * height;
  return shared / (areas - shared) > threshold;
}

}  // namespace cachet::kernels
