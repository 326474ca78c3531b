#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// The sets of embedding tables (source, target, output) that can be tied.
enum class SharedEmbeddings {
  none,
  target,  // target and output
  all,     // source, target and output; both languages have one vocabulary
};

/// The sizes of the blocks of the encoder or of the decoder.
struct TransformerHalf {
  int64_t depth = 6, num_heads = 4, mlp_dim = 1024;
};

/// The options of the Transformer (Vaswani et al., arXiv 1706.03762) as in fairseq, and of its replaceable parts.
struct TranslationTransformerOptions {
  TranslationShape text{.source_vocabulary = 10000, .target_vocabulary = 10000};
  int64_t embed_dim = 512;
  TransformerHalf encoder{}, decoder{};
  SharedEmbeddings shared = SharedEmbeddings::target;
  nn::NormPlace norm_place = nn::NormPlace::before;  // before: the encoder and the decoder each end with one more norm
  nn::Activation activation = nn::Activation::relu;
  double dropout = 0.3;  // rate after embeddings, attention and the feed-forward halves
  double activation_dropout = 0.0;
  nn::PlugIns plug_ins{};                    // attention and cache: only for the encoder; norm: for all blocks
  nn::AttentionOptions decoder_attention{};  // attention of the decoder to the tokens written so far
  nn::AttentionOptions cross_attention{};    // attention of the decoder to the encoder
};

/// Reads a `[model]` table; `defaults` has the default values of the keys, which come from the named model. Reports
/// invalid combinations of values as problems, which name the key.
TranslationTransformerOptions read_translation_transformer_options(const config::View& table,
                                                                   TranslationTransformerOptions defaults);

}  // namespace cachet::models
