#pragma once

#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/model_keys.h"
#include "cachet/nn/layers/adaptive_vocabulary.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// Reads the keys of the clusters of an adaptive softmax: vocabulary, embed_dim, token_dim, cutoffs and division. If
/// the vocabulary of the recipe is smaller than the default one, leaves out the default cutoffs that are too large for
/// it.
nn::AdaptiveVocabulary read_adaptive_vocabulary(const config::View& table, nn::AdaptiveVocabulary defaults);

/// Reads the keys that every language model has: the keys of its vocabulary, tie_tables, tie_projections, depth,
/// num_heads, mlp_dim, norm_place, dropout, target_length, and the tables of the plug-ins. Reports a problem if values
/// of the recipe do not fit together.
template <class Options>
Options read_language_keys(const config::View& table, Options o) {
  o.vocabulary = read_adaptive_vocabulary(table, o.vocabulary);
  o.ties.tables = table.boolean("tie_tables", o.ties.tables);
  o.ties.projections = table.boolean("tie_projections", o.ties.projections);
  o.depth = table.integer("depth", o.depth, {1, 1000});
  o.num_heads = table.integer("num_heads", o.num_heads, {1, 1024});
  o.mlp_dim = table.integer("mlp_dim", o.mlp_dim, {1, 1 << 18});
  o.norm_place = table.choice("norm_place", o.norm_place, kNormPlaces);
  o.dropout = table.real("dropout", o.dropout, {0.0, 0.99});
  o.target_length = table.integer("target_length", o.target_length, {1, 1 << 20});
  o.plug_ins = nn::read_plug_ins(table, o.plug_ins.attention, nn::Sessions::batch_rows);
  if (o.plug_ins.attention.head_dim == 0 && o.vocabulary.dim % o.num_heads != 0)
    table.problem("num_heads", "must divide embed_dim (" + std::to_string(o.vocabulary.dim) + "), got " +
                                   std::to_string(o.num_heads) + "; or set attention.head_dim");
  check_plug_ins(table, o.plug_ins, o.vocabulary.dim, o.num_heads);
  check_causal_norm(table, o.plug_ins.norm);
  check_cache_without_grid(table, o.plug_ins.cache, "text");
  return o;
}

}  // namespace cachet::models
