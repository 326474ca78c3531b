#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/language/language_model.h"
#include "cachet/nn/layers/adaptive_softmax.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// Tokens of the model's own that stand before each segment (Memory Transformer, Burtsev et al., arXiv 2006.11527), and
/// that a segment hands on to the next one (Recurrent Memory Transformer, Bulatov et al., arXiv 2207.06881).
struct MemoryTokenOptions {
  int64_t count = 0;        // 0: none
  bool recurrent = false;   // they are also after each segment: the last layer's outputs for those come before the
                            // next one
  bool reads_past = false;  // whether they see the memory of earlier segments
};

/// Transformer-XL (Dai et al., arXiv 1901.02860) and what became of its memory.
struct TransformerXLOptions {
  nn::AdaptiveVocabulary vocabulary{};  // its dim is the model's
  nn::AdaptiveTies ties{};
  int64_t target_length = 150;
  SegmentOptions segments{.memory_length = 150};
  MemoryTokenOptions memory_tokens{};
  int64_t depth = 16, num_heads = 10, mlp_dim = 2100;
  nn::NormPlace norm_place = nn::NormPlace::after;
  double dropout = 0.1;  // of embeddings, distances, attention's results, in the feed-forward halves and of the output
  nn::PlugIns plug_ins{.attention = {.qkv_bias = false, .projection_bias = false}};
};

/// Reads a `[model]` table over the defaults of a named model. Combinations that cannot be built are problems that name
/// the key.
TransformerXLOptions read_transformer_xl_options(const config::View& table, TransformerXLOptions defaults);

}  // namespace cachet::models
