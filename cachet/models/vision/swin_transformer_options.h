#pragma once

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/vision/image_shape.h"
#include "cachet/nn/layers/windows.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

struct SwinStageOptions {
  int64_t depth = 0, num_heads = 0;
  int64_t cache_pool = 1;  // side of the average pooling of a window before a gated recurrent cache
};

/// The rule for feature maps whose height or width is not a multiple of the window's height or width.
enum class WindowFit {
  shrink,  // a map no larger than a window is one window without a shift; zeros are added after the shift (timm)
  pad,     // windows always keep their size and shift; zeros are added before the shift (published detection backbone)
};

/// The options of Swin Transformer (Liu et al., arXiv 2103.14030).
struct SwinTransformerOptions {
  ImageShape image{};
  int64_t patch_size = 4;
  int64_t embed_dim = 96;  // width of the first stage; each later stage doubles it
  std::vector<SwinStageOptions> stages{};
  int64_t window_size = 7;
  WindowFit window_fit = WindowFit::shrink;
  double mlp_ratio = 4.0;
  double dropout = 0.0;
  double stochastic_depth = 0.0;  // rate of the last block; rates rise linearly from block to block
  nn::PlugIns plug_ins{};

  int64_t stage_dim(size_t stage) const { return embed_dim << stage; }
  int64_t last_dim() const { return stage_dim(stages.size() - 1); }
  bool averages_tokens() const { return true; }  // whether the classifier averages the tokens
};

/// Reads a `[model]` table; `defaults` has the values of a named model.
SwinTransformerOptions read_swin_transformer_options(const config::View& table, SwinTransformerOptions defaults);

}  // namespace cachet::models
