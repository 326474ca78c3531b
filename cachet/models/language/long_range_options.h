#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

enum class Positions { sinusoidal, learned };

/// The part of an encoded sequence that the head reads.
enum class SequencePooling {
  class_token,  // a learned token before the sequence
  first_token,  // the first token of the sequence itself, as in the arena's dual encoder
  mean,         // the mean of all tokens that are not padding
};

/// The features that the head computes from the two sequences u, v of a pair.
enum class PairFeatures {
  joined,    // [u, v]: as in the arena
  compared,  // [u, v, u ⊙ v, u − v]: as in the common PyTorch port
};

/// The options of the encoder and heads of the Long Range Arena (Tay et al., arXiv 2011.04006).
struct LongRangeOptions {
  SequenceShape sequence{};
  int64_t classes = 2;
  int64_t embed_dim = 256, depth = 4, num_heads = 4, mlp_dim = 1024;
  int64_t head_layers = 2;  // number of linear layers, the last included; hidden layers after the first halve the width
  Positions positions = Positions::sinusoidal;
  SequencePooling pooling = SequencePooling::class_token;
  PairFeatures pair_features = PairFeatures::joined;
  double dropout = 0.1;           // rate after the embedding and in the feed-forward halves
  double stochastic_depth = 0.0;  // rate of the last block; rates rise linearly from block to block
  nn::PlugIns plug_ins{.attention = {.qkv_bias = false, .projection_bias = false}};

  int64_t class_tokens() const { return pooling == SequencePooling::class_token ? 1 : 0; }
};

/// Reads a `[model]` table; `defaults` has the default values of the keys, which come from the named model. Reports
/// invalid combinations of values as problems, which name the key.
LongRangeOptions read_long_range_options(const config::View& table, LongRangeOptions defaults);

}  // namespace cachet::models
