#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/vision/image_shape.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

enum class Pooling { token, mean };

/// The options of ViT (Dosovitskiy et al., arXiv 2010.11929) or DeiT (Touvron et al., arXiv 2012.12877).
struct VisionTransformerOptions {
  ImageShape image{};
  int64_t patch_size = 16;
  int64_t classes = 1000;
  int64_t embed_dim = 192, depth = 12, num_heads = 3;
  double mlp_ratio = 4.0;
  bool class_token = true;
  bool distilled = false;  // a second class token with its own head; evaluation averages the two heads
  Pooling pooling = Pooling::token;
  double dropout = 0.0;           // rate after the positions and in the feed-forward halves
  double stochastic_depth = 0.0;  // rate of the last block; rates rise linearly from block to block
  double position_std = 0.02;     // initial deviation; larger values let small data sets learn positions sooner
  nn::PlugIns plug_ins{};

  nn::Grid grid() const { return {image.height / patch_size, image.width / patch_size}; }
  int64_t class_tokens() const { return (class_token ? 1 : 0) + (distilled ? 1 : 0); }
  int64_t tokens() const { return class_tokens() + grid().tokens(); }
};

/// Reads a `[model]` table; `defaults` has the default values of the keys, which come from the named model. Reports
/// invalid combinations of values as problems, which name the key.
VisionTransformerOptions read_vision_transformer_options(const config::View& table, VisionTransformerOptions defaults);

}  // namespace cachet::models
