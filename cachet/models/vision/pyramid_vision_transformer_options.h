#pragma once

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/vision/image_shape.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// The published versions of PVT.
enum class PyramidForm {
  v1,         // patches without overlap, learned positions, a class token in the last stage (arXiv 2102.12122)
  v2,         // overlapping patches, a depthwise convolution in the feed-forward half, mean pooling (arXiv 2106.13797)
  v2_linear,  // v2 with keys pooled to 7 × 7 and a ReLU before the depthwise convolution
};

struct PyramidStageOptions {
  int64_t embed_dim = 0, depth = 0, num_heads = 0;
  double mlp_ratio = 4.0;
  int64_t spatial_reduction = 1;  // only for v1 and v2
  int64_t cache_pool = 1;         // side of the average pooling before a gated recurrent cache
};

/// The way in which the tokens of the cache are reduced before memory attention attends to the cache.
enum class MemoryReduction {
  as_self,  // the same reduction as in self-attention, with separate weights, as in the published code
  none,
};

/// The options of a pyramid vision transformer (Wang et al., arXiv 2102.12122 and 2106.13797).
struct PyramidVisionTransformerOptions {
  PyramidForm form = PyramidForm::v1;
  ImageShape image{};
  int64_t patch_size = 4;  // side in pixels, in the first stage; each later stage halves the sides of the map
  std::vector<PyramidStageOptions> stages{};
  double dropout = 0.0;
  double stochastic_depth = 0.0;  // rate of the last block; rates rise linearly from block to block
  MemoryReduction memory_reduction = MemoryReduction::as_self;
  nn::PlugIns plug_ins{};

  int64_t last_dim() const { return stages.back().embed_dim; }
  bool averages_tokens() const { return form != PyramidForm::v1; }  // whether the classifier averages the tokens
};

/// Reads a `[model]` table; `defaults` has the default values of the keys, which come from the named model.
PyramidVisionTransformerOptions read_pyramid_vision_transformer_options(const config::View& table,
                                                                        PyramidVisionTransformerOptions defaults);

}  // namespace cachet::models
