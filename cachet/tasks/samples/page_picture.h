#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace cachet::tasks {

/// The bytes of an image file for a page: pixels (H, W, C) uint8 of one or three channels, made smaller where the
/// longer side has more than `most_side` pixels. Of up to 64 pixels a side it is a PNG with the very pixels, else a
/// JPEG, which takes a fifth of the room.
std::string page_picture(const at::Tensor& pixels, int64_t most_side);

}  // namespace cachet::tasks
