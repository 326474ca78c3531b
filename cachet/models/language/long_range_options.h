#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

enum class Positions { sinusoidal, learned };

/// What of an encoded sequence the head looks at.
enum class SequencePooling {
  class_token,  // a learned token before the sequence
  first_token,  // the first token of the sequence itself: the arena's dual encoder
  mean,         // of all tokens that are not padding
};

/// How the head meets the two sequences u, v of a pair.
enum class PairFeatures {
  joined,    // [u, v]: the arena
  compared,  // [u, v, u ⊙ v, u − v]: the common PyTorch port
};

/// The arena's encoder and heads (Tay et al., arXiv 2011.04006).
struct LongRangeOptions {
  SequenceShape sequence{};
  int64_t classes = 2;
  int64_t embed_dim = 256, depth = 4, num_heads = 4, mlp_dim = 1024;
  int64_t head_layers = 2;  // linear layers of the head, the last one included; each hidden one but the first halves
  Positions positions = Positions::sinusoidal;
  SequencePooling pooling = SequencePooling::class_token;
  PairFeatures pair_features = PairFeatures::joined;
  double dropout = 0.1;           // of the embedding and in the feed-forward halves
  double stochastic_depth = 0.0;  // of the last block; earlier ones rise to it linearly
  nn::PlugIns plug_ins{.attention = {.qkv_bias = false, .projection_bias = false}};

  int64_t class_tokens() const { return pooling == SequencePooling::class_token ? 1 : 0; }
};

/// Reads a `[model]` table over the defaults of a named model. Combinations that cannot be built are problems that name
/// the key.
LongRangeOptions read_long_range_options(const config::View& table, LongRangeOptions defaults);

}  // namespace cachet::models
