#include "cachet/models/language/translation_transformer_options.h"

#include <array>
#include <string>
#include <type_traits>

#include "cachet/models/model_keys.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<SharedEmbeddings>, 3> kSharedEmbeddings{
    {{"none", SharedEmbeddings::none}, {"target", SharedEmbeddings::target}, {"all", SharedEmbeddings::all}}};
constexpr std::array<config::Choice<nn::Activation>, 3> kTranslationActivations{
    {{"relu", nn::Activation::relu}, {"gelu", nn::Activation::gelu}, {"silu", nn::Activation::silu}}};
constexpr config::Range<int64_t> kVocabulary{2, 1 << 24}, kSentenceLength{1, 1 << 20};
constexpr int64_t kPaperCacheLength = 64;  // of the encoder's caches (arXiv 2312.12742, Algorithm 1)

void read_half(const config::View& table, const std::string& name, TransformerHalf& half) {
  half.depth = table.integer(name + "_depth", half.depth, {1, 1000});
  half.num_heads = table.integer(name + "_heads", half.num_heads, {1, 1024});
  half.mlp_dim = table.integer(name + "_mlp_dim", half.mlp_dim, {1, 1 << 18});
}

void check_heads(const config::View& table, const std::string& half, int64_t heads, int64_t embed_dim,
                 std::initializer_list<const nn::AttentionOptions*> attentions) {
  for (const nn::AttentionOptions* attention : attentions)
    if (attention->head_dim == 0 && embed_dim % heads != 0) {
      table.problem(half + "_heads", "must divide embed_dim (" + std::to_string(embed_dim) + "), got " +
                                         std::to_string(heads) + "; or set head_dim of the attention");
      return;
    }
}

void set_cache_length(nn::CacheOptions& cache) {
  std::optional<nn::CachedLayerOptions> layer = nn::cached_layer_options(cache);
  if (!layer || layer->length) return;
  layer->length = kPaperCacheLength;
  cache = nn::with_layer(cache, *layer);
}

}  // namespace

TranslationTransformerOptions read_translation_transformer_options(const config::View& table,
                                                                   TranslationTransformerOptions o) {
  TranslationShape& text = o.text;
  text.source_vocabulary = table.integer("source_vocabulary", text.source_vocabulary, kVocabulary);
  text.target_vocabulary = table.integer("target_vocabulary", text.target_vocabulary, kVocabulary);
  text.source_length = table.integer("source_length", text.source_length, kSentenceLength);
  text.target_length = table.integer("target_length", text.target_length, kSentenceLength);
  o.embed_dim = table.integer("embed_dim", o.embed_dim, {4, 1 << 16});
  read_half(table, "encoder", o.encoder);
  read_half(table, "decoder", o.decoder);
  o.shared = table.choice("share_embeddings", o.shared, kSharedEmbeddings);
  o.norm_place = table.choice("norm_place", o.norm_place, kNormPlaces);
  o.activation = table.choice("activation", o.activation, kTranslationActivations);
  o.dropout = table.real("dropout", o.dropout, {0.0, 0.99});
  o.activation_dropout = table.real("activation_dropout", o.activation_dropout, {0.0, 0.99});
  for (nn::AttentionOptions* attention : {&o.plug_ins.attention, &o.decoder_attention, &o.cross_attention})
    attention->projection_dropout = o.dropout;
  o.plug_ins = nn::read_plug_ins(table, o.plug_ins.attention);
  o.decoder_attention = nn::read_attention_options(table.table("decoder_attention"), o.decoder_attention);
  o.cross_attention = nn::read_attention_options(table.table("cross_attention"), o.cross_attention);
  set_cache_length(o.plug_ins.cache);

  for (const auto& [name, id] :
       {std::pair{"padding", text.tokens.padding}, {"begin", text.tokens.begin}, {"end", text.tokens.end}})
    if (id >= text.target_vocabulary)
      table.problem("target_vocabulary", "must be above " + std::to_string(id) + ", which is the " + name +
                                             " token, got " + std::to_string(text.target_vocabulary));
  if (o.shared == SharedEmbeddings::all && text.source_vocabulary != text.target_vocabulary)
    table.problem("share_embeddings", "'all' needs one vocabulary for both languages, but source_vocabulary is " +
                                          std::to_string(text.source_vocabulary) + " and target_vocabulary is " +
                                          std::to_string(text.target_vocabulary) + "; use 'target'");
  if (o.embed_dim % 2 != 0)
    table.problem("embed_dim", "must be even, got " + std::to_string(o.embed_dim) +
                                   ": positions are encoded by as many sines as cosines");
  check_heads(table, "encoder", o.encoder.num_heads, o.embed_dim, {&o.plug_ins.attention});
  check_heads(table, "decoder", o.decoder.num_heads, o.embed_dim, {&o.decoder_attention, &o.cross_attention});
  if (const std::string why = nn::why_not_causal(o.decoder_attention.function); !why.empty())
    table.table("decoder_attention").problem("kind", why);
  if (const std::string why = nn::why_not_across(o.cross_attention.function); !why.empty())
    table.table("cross_attention").problem("kind", why);
  check_attention(table, "decoder_attention", o.decoder_attention, o.embed_dim, o.decoder.num_heads);
  check_attention(table, "cross_attention", o.cross_attention, o.embed_dim, o.decoder.num_heads);
  check_plug_ins(table, o.plug_ins, o.embed_dim, o.encoder.num_heads);
  check_causal_norm(table, o.plug_ins.norm);
  check_cache_without_grid(table, o.plug_ins.cache, "sentences");
  return o;
}

}  // namespace cachet::models
