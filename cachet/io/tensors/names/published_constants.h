#pragma once

#include <cstdint>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// Returns the tables that Swin's repository saves in addition to the parameters `theirs`, under the repository's
/// names. Each block has `relative_position_index` (w², w²) int64. If every second block has shifted windows, these
/// blocks also have `attn_mask` (windows, w², w²) with the values 0 and -100.
TensorMap swin_constants(const TensorMap& theirs, int64_t image_height, int64_t image_width);

/// Returns the constants that kimiyoung's Transformer-XL saves in addition to the parameters `theirs`. The only
/// constant is `pos_emb.inv_freq`, with 10000^(−2i/D) for the D channels that a layer reads, in float32 (float64 for a
/// float64 model).
TensorMap transformer_xl_constants(const TensorMap& theirs);

/// Returns the constants that fairseq saves in addition to the parameters of an encoder and a decoder. Without a
/// `version` of 3, fairseq's decoder would treat the weights as old weights and omit the norm after its last layer.
/// fairseq uses only the type of `_float_tensor`.
TensorMap fairseq_constants();

}  // namespace cachet::io
