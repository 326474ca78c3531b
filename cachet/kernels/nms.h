#pragma once

#include <cstdint>

namespace cachet::kernels {

/// Boxes, one coordinate behind the other: x0[i] y0[i] x1[i] y1[i].
struct BoxColumns {
  const float *x0, *y0, *x1, *y1;
  int64_t count;
};

/// Numbers that nms needs as space for `count` boxes.
inline constexpr int64_t nms_space(int64_t count) {
  constexpr int64_t kWidestVector = 64;  // numbers; with room to spare
  return 5 * (count + kWidestVector);
}

/// Greedy non-maximum suppression of boxes in their order: kept[i] is 1 unless the box's intersection with one that is
/// kept before it, over their union, is above the threshold, else 0. In float32, intersection / (area + area −
/// intersection), every operation rounded by itself: a decision is the same on every processor. What is no number is
/// above no threshold.
void nms(const BoxColumns& boxes, float threshold, uint8_t* kept, float* space);

namespace scalar {

// The same, one box at a time: what the kernel above is tested against.
void nms(const BoxColumns& boxes, float threshold, uint8_t* kept, float* space);

}  // namespace scalar
}  // namespace cachet::kernels
