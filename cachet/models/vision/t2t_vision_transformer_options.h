#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/vision/image_shape.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// The kind of attention between two soft splits.
enum class TokenAttention { performer, transformer };

/// The options of T2T-ViT (Yuan et al., arXiv 2101.11986).
struct T2tVisionTransformerOptions {
  ImageShape image{};
  int64_t classes = 1000;
  TokenAttention token_attention = TokenAttention::performer;
  int64_t token_dim = 64;      // width of the tokens between the soft splits
  double token_dropout = 0.1;  // rate of the token performer, fixed in the published code
  int64_t split_stride = 4;  // stride of the first soft split (patches of 2·stride − 1); other splits halve the map
  int64_t embed_dim = 384, depth = 14, num_heads = 6;
  double mlp_ratio = 3.0;
  double dropout = 0.0;           // rate after the positions and in the feed-forward halves
  double stochastic_depth = 0.0;  // rate of the last block; rates rise linearly from block to block
  // `attention` and `cache` are for the blocks, `norm` is for all norms.
  nn::PlugIns plug_ins{.attention = {.qkv_bias = false}};
};

/// Reads a `[model]` table; `defaults` has the values of the model that the table names.
T2tVisionTransformerOptions read_t2t_vision_transformer_options(const config::View& table,
                                                                T2tVisionTransformerOptions defaults);

}  // namespace cachet::models
