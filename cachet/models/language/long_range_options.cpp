#include "cachet/models/language/long_range_options.h"

#include <array>
#include <string>

#include "cachet/models/model_keys.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<Positions>, 2> kPositions{
    {{"sinusoidal", Positions::sinusoidal}, {"learned", Positions::learned}}};
constexpr std::array<config::Choice<SequencePooling>, 3> kSequencePoolings{
    {{"class_token", SequencePooling::class_token},
     {"first_token", SequencePooling::first_token},
     {"mean", SequencePooling::mean}}};
constexpr std::array<config::Choice<PairFeatures>, 2> kPairFeatures{
    {{"joined", PairFeatures::joined}, {"compared", PairFeatures::compared}}};

}  // namespace

LongRangeOptions read_long_range_options(const config::View& table, LongRangeOptions o) {
  o.sequence.vocabulary = table.integer("vocabulary", o.sequence.vocabulary, {1, 1 << 24});
  o.sequence.max_length = table.integer("max_length", o.sequence.max_length, {1, 1 << 24});
  o.sequence.pairs = table.boolean("pairs", o.sequence.pairs);
  o.classes = read_classes(table, o.classes);
  read_dropout(table, o.dropout, o.stochastic_depth);
  o.embed_dim = table.integer("embed_dim", o.embed_dim, {1, 1 << 16});
  o.depth = table.integer("depth", o.depth, {1, 1000});
  o.num_heads = table.integer("num_heads", o.num_heads, {1, 1024});
  o.mlp_dim = table.integer("mlp_dim", o.mlp_dim, {1, 1 << 18});
  o.head_layers = table.integer("head_layers", o.head_layers, {1, 8});
  o.positions = table.choice("positions", o.positions, kPositions);
  o.pooling = table.choice("pooling", o.pooling, kSequencePoolings);
  if (o.sequence.pairs) o.pair_features = table.choice("pair_features", o.pair_features, kPairFeatures);
  o.plug_ins = nn::read_plug_ins(table, o.plug_ins.attention);
  if (o.embed_dim % o.num_heads != 0)
    table.problem("num_heads",
                  "must divide embed_dim (" + std::to_string(o.embed_dim) + "), got " + std::to_string(o.num_heads));
  check_plug_ins(table, o.plug_ins, o.embed_dim, o.num_heads);
  check_cache_without_grid(table, o.plug_ins.cache, "sequences");
  if (o.pooling == SequencePooling::mean) note_norm_before_mean(table, o.plug_ins.norm, o.embed_dim);
  return o;
}

}  // namespace cachet::models
