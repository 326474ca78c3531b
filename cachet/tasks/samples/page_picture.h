#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace cachet::tasks {

/// Returns the bytes of an image file for a page. The pixels (H, W, C) uint8 have one or three channels. The picture is
/// reduced if the longer side exceeds `most_side` pixels. The file is a lossless PNG if no side of the picture exceeds
/// 64 pixels. If a side exceeds 64 pixels, the file is a JPEG, a fifth of the size of a PNG.
std::string page_picture(const at::Tensor& pixels, int64_t most_side);

}  // namespace cachet::tasks
