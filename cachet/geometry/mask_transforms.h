#pragma once

#include <cstdint>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

/// Apply a transform of an image to its mask, without a bitmap of the mask.
namespace cachet::geometry {

RunLengths mirrored(const RunLengths& mask);  // mirrors left to right
RunLengths flipped(const RunLengths& mask);   // flips top to bottom

/// Crops and pads: returns the mask in a window of `size` whose upper left corner is at (top, left). The window may
/// extend beyond the mask; pixels beyond the mask do not belong to the object.
RunLengths windowed(const RunLengths& mask, int64_t top, int64_t left, const Size& size);

/// Resizes a mask by OpenCV's nearest-neighbour interpolation, with the same rounding: row i of the result is row
/// min(⌊i · (1 / (height / old height))⌋, old height − 1) of the mask. Columns follow the same rule.
RunLengths resized(const RunLengths& mask, const Size& size);

}  // namespace cachet::geometry
