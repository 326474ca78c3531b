#pragma once

#include <cstdint>

#include "cachet/io/tensor_map.h"

namespace cachet::io {

/// The tables that Swin's repository saves beside its parameters, for these (under its names, in whose blocks they
/// belong): `relative_position_index` (w², w²) int64 of each block and, where the windows of every other block are
/// shifted, `attn_mask` (windows, w², w²), 0 or -100.
TensorMap swin_constants(const TensorMap& theirs, int64_t image_height, int64_t image_width);

}  // namespace cachet::io
