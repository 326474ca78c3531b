#include <array>
#include <string>

#include "cachet/models/language/transformer_xl.h"
#include "cachet/models/model_keys.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<nn::NormPlace>, 2> kNormPlaces{
    {{"before", nn::NormPlace::before}, {"after", nn::NormPlace::after}}};

constexpr config::Range<int64_t> kLengths{0, 1 << 24}, kWidths{1, 1 << 16};

// Cutoffs of a vocabulary that has fewer tokens than the model was made for are left out, if nobody asked for them.
std::vector<int64_t> cutoffs_within(std::vector<int64_t> cutoffs, int64_t tokens) {
  std::erase_if(cutoffs, [&](int64_t cutoff) { return cutoff >= tokens; });
  return cutoffs;
}

void check_cutoffs(const config::View& table, const nn::AdaptiveVocabulary& vocabulary) {
  int64_t last = 0;
  for (const int64_t cutoff : vocabulary.cutoffs) {
    if (cutoff <= last || cutoff >= vocabulary.tokens)
      table.problem("cutoffs", "must ascend between 0 and the vocabulary's " + std::to_string(vocabulary.tokens) +
                                   " tokens; each is the first token of a cluster");
    last = cutoff;
  }
  int64_t width = vocabulary.embedding_dim > 0 ? vocabulary.embedding_dim : vocabulary.dim;
  for (size_t i = 0; i < vocabulary.cutoffs.size(); ++i) width /= vocabulary.division;
  if (width == 0) table.problem("division", "leaves the last cluster without a channel; choose a smaller one");
}

}  // namespace

TransformerXLOptions read_transformer_xl_options(const config::View& table, TransformerXLOptions o) {
  nn::AdaptiveVocabulary& vocabulary = o.vocabulary;
  vocabulary.tokens = table.integer("vocabulary", vocabulary.tokens, {1, 1 << 24});
  vocabulary.dim = table.integer("embed_dim", vocabulary.dim, kWidths);
  vocabulary.embedding_dim = table.integer("token_dim", vocabulary.embedding_dim, {0, 1 << 16});
  vocabulary.cutoffs = table.integers("cutoffs", cutoffs_within(vocabulary.cutoffs, vocabulary.tokens), {1, 1 << 24});
  vocabulary.division = table.integer("division", vocabulary.division, {1, 1024});
  check_cutoffs(table, vocabulary);
  o.ties.tables = table.boolean("tie_tables", o.ties.tables);
  o.ties.projections = table.boolean("tie_projections", o.ties.projections);
  o.depth = table.integer("depth", o.depth, {1, 1000});
  o.num_heads = table.integer("num_heads", o.num_heads, {1, 1024});
  o.mlp_dim = table.integer("mlp_dim", o.mlp_dim, {1, 1 << 18});
  o.norm_place = table.choice("norm_place", o.norm_place, kNormPlaces);
  o.dropout = table.real("dropout", o.dropout, {0.0, 0.99});
  o.target_length = table.integer("target_length", o.target_length, {1, 1 << 20});
  o.plug_ins = nn::read_plug_ins(table, o.plug_ins.attention, nn::Streams::lanes);
  const bool cached = nn::cached_layer_options(o.plug_ins.cache).has_value();
  SegmentOptions& segments = o.segments;
  segments.memory_length = table.integer("memory_length", cached ? 0 : segments.memory_length, kLengths);
  segments.clamp_length = table.integer("clamp_length", segments.clamp_length, kLengths);
  segments.same_length = table.boolean("same_length", segments.same_length);
  MemoryTokenOptions& memory = o.memory_tokens;
  memory.count = table.integer("memory_tokens", memory.count, {0, 1 << 16});
  memory.recurrent = table.boolean("memory_tokens_recurrent", memory.recurrent);
  memory.reads_past = table.boolean("memory_tokens_read_past", memory.reads_past);
  if (memory.count == 0 && (memory.recurrent || memory.reads_past))
    table.problem("memory_tokens", "is 0, and other keys say what memory tokens do");
  if (memory.count > 0 && cached) table.problem("memory_tokens", "and a cache exclude each other: choose one memory");
  if (cached && segments.memory_length > 0)
    table.problem("memory_length", "must be 0: the cache stands in the memory's place");
  if (segments.same_length && segments.memory_length == 0)
    table.problem("same_length", "lets each token see memory_length tokens, which is 0");
  if (!std::holds_alternative<nn::SoftmaxOptions>(o.plug_ins.attention.function))
    table.table("attention").problem("kind", "must be softmax: the model attends to relative positions");
  if (o.plug_ins.attention.head_dim == 0 && vocabulary.dim % o.num_heads != 0)
    table.problem("num_heads", std::to_string(o.num_heads) + " heads do not divide embed_dim " +
                                   std::to_string(vocabulary.dim) + "; set attention.head_dim");
  if (vocabulary.dim % 2 != 0)
    table.problem("embed_dim",
                  "must be even: distances are as many sines as cosines, got " + std::to_string(vocabulary.dim));
  check_cache_width(table, o.plug_ins.cache, vocabulary.dim, o.num_heads);
  if (const auto cache = nn::cached_layer_options(o.plug_ins.cache); cache && cache->positional_convolution)
    table.table("cache").problem("positional_convolution",
                                 "needs tokens on a grid, which text is not; set it to false");
  return o;
}

}  // namespace cachet::models
