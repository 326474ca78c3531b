#pragma once

#include <cstdint>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

/// What is done to an image, done to a mask without making a bitmap of it.
namespace cachet::geometry {

RunLengths mirrored(const RunLengths& mask);  // left to right
RunLengths flipped(const RunLengths& mask);   // top to bottom

/// What a window of `size` with its upper left corner at (top, left) of the mask shows; outside the mask nothing is
/// inside the object. So it crops and pads.
RunLengths windowed(const RunLengths& mask, int64_t top, int64_t left, const Size& size);

/// Row i of the result is row min(⌊i · (1 / (height / old height))⌋, old height − 1), columns likewise: the nearest
/// neighbour as OpenCV has it, roundings included.
RunLengths resized(const RunLengths& mask, const Size& size);

}  // namespace cachet::geometry
