#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// The embedding tables (source, target, output) that are tied.
enum class SharedEmbeddings {
  none,
  target,  // target and output
  all,     // source, target and output: there is one vocabulary
};

/// The blocks of the encoder or of the decoder.
struct TransformerHalf {
  int64_t depth = 6, num_heads = 4, mlp_dim = 1024;
};

/// The Transformer of Vaswani et al. (arXiv 1706.03762) as fairseq trains it, and its replaceable parts.
struct TranslationTransformerOptions {
  TranslationShape text{.source_vocabulary = 10000, .target_vocabulary = 10000};
  int64_t embed_dim = 512;
  TransformerHalf encoder{}, decoder{};
  SharedEmbeddings shared = SharedEmbeddings::target;
  nn::NormPlace norm_place = nn::NormPlace::before;  // before: there is also a norm after the encoder and the decoder
  nn::Activation activation = nn::Activation::relu;
  double dropout = 0.3;  // rate after embeddings, attention and the feed-forward halves
  double activation_dropout = 0.0;
  nn::PlugIns plug_ins{};                    // attention and cache: only for the encoder; norm: for all blocks
  nn::AttentionOptions decoder_attention{};  // attention of the decoder to the tokens written so far
  nn::AttentionOptions cross_attention{};    // attention of the decoder to the encoder
};

/// Reads a `[model]` table; `defaults` has the values of a named model. Reports combinations that cannot be
/// built as problems, which name the key.
TranslationTransformerOptions read_translation_transformer_options(const config::View& table,
                                                                   TranslationTransformerOptions defaults);

}  // namespace cachet::models
