#pragma once

#include <cstdint>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

/// Transforms of an image, applied to a mask without making a bitmap of it.
namespace cachet::geometry {

RunLengths mirrored(const RunLengths& mask);  // left to right
RunLengths flipped(const RunLengths& mask);   // top to bottom

/// Returns the part of the mask in a window of `size` with its upper left corner at (top, left). Pixels outside the
/// mask are outside the object. So the function crops and pads.
RunLengths windowed(const RunLengths& mask, int64_t top, int64_t left, const Size& size);

/// Resizes a mask. Row i of the result is row min(⌊i · (1 / (height / old height))⌋, old height − 1), columns likewise:
/// the nearest neighbour as in OpenCV, including its roundings.
RunLengths resized(const RunLengths& mask, const Size& size);

}  // namespace cachet::geometry
