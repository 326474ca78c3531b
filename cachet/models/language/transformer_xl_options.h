#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/language/language_model.h"
#include "cachet/nn/layers/adaptive_softmax.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// Learned tokens of the model before each segment (Memory Transformer, Burtsev et al., arXiv 2006.11527). Each segment
/// can pass its memory tokens on to the next segment (Recurrent Memory Transformer, Bulatov et al., arXiv 2207.06881).
struct MemoryTokenOptions {
  int64_t count = 0;        // 0: no memory tokens
  bool recurrent = false;   // whether memory tokens also follow each segment
                            // if true, the last layer's outputs at memory tokens are the next segment's memory tokens
  bool reads_past = false;  // whether memory tokens see the memory of earlier segments
};

/// The options of Transformer-XL (Dai et al., arXiv 1901.02860) and of later variants of its memory.
struct TransformerXLOptions {
  nn::AdaptiveVocabulary vocabulary{};  // vocabulary.dim is the number of channels of the model
  nn::AdaptiveTies ties{};
  int64_t target_length = 150;
  SegmentOptions segments{.memory_length = 150};
  MemoryTokenOptions memory_tokens{};
  int64_t depth = 16, num_heads = 10, mlp_dim = 2100;
  nn::NormPlace norm_place = nn::NormPlace::after;
  double dropout = 0.1;  // rate on embeddings and distances, after attention, in feed-forward halves and on the output
  nn::PlugIns plug_ins{.attention = {.qkv_bias = false, .projection_bias = false}};
};

/// Reads a `[model]` table; `defaults` has the values of a named model. Reports a problem, which names the key, if
/// values of the recipe do not fit together.
TransformerXLOptions read_transformer_xl_options(const config::View& table, TransformerXLOptions defaults);

}  // namespace cachet::models
