#pragma once

#include <cstdint>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

/// Transforms of an image that are applied to a mask without making a bitmap of the mask.
namespace cachet::geometry {

RunLengths mirrored(const RunLengths& mask);  // left to right
RunLengths flipped(const RunLengths& mask);   // top to bottom

/// Crops and pads: returns the mask in a window of `size` whose upper left corner is at (top, left). The window may
/// exceed the mask; pixels outside the mask are outside the object.
RunLengths windowed(const RunLengths& mask, int64_t top, int64_t left, const Size& size);

/// Resizes a mask with OpenCV's nearest neighbour, including its rounding: row i of the result is row min(⌊i · (1 /
/// (height / old height))⌋, old height − 1) of the mask, and columns likewise.
RunLengths resized(const RunLengths& mask, const Size& size);

}  // namespace cachet::geometry
