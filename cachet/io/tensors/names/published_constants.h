#pragma once

#include <cstdint>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// The tables that Swin's repository saves in addition to its parameters, for these (under its names, in whose blocks
/// they belong): `relative_position_index` (w², w²) int64 of each block and, where the windows of every other block are
/// shifted, `attn_mask` (windows, w², w²), 0 or -100.
TensorMap swin_constants(const TensorMap& theirs, int64_t image_height, int64_t image_width);

/// The constants that kimiyoung's Transformer-XL saves in addition to its parameters, for these (under its names):
/// `pos_emb.inv_freq`, 10000^(−2i/D) of the D channels that a layer reads, in float32, of a model in float64 as that.
TensorMap transformer_xl_constants(const TensorMap& theirs);

/// The constants that fairseq saves in addition to the parameters of an encoder and a decoder. Without a `version` of
/// 3, its decoder would treat the weights as old ones and leave out the norm after its last layer; `_float_tensor` is
/// only a type.
TensorMap fairseq_constants();

}  // namespace cachet::io
