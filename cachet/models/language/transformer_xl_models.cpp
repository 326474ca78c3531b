#include "cachet/models/language/transformer_xl.h"
#include "cachet/models/registered_model.h"

namespace cachet::models {
namespace {

// WikiText-103's words, and the clusters of the published configurations.
constexpr int64_t kWords = 267735;

// The published base: its projections are tied, and none is needed.
TransformerXLOptions wikitext_base() {
  TransformerXLOptions o;
  o.vocabulary = {.tokens = kWords, .dim = 410, .cutoffs = {20000, 40000, 200000}};
  o.plug_ins.attention.head_dim = 41;
  return o;
}

TransformerXLOptions wikitext_large() {
  TransformerXLOptions o;
  o.vocabulary = {.tokens = kWords, .dim = 1024, .cutoffs = {20000, 40000, 200000}, .division = 4};
  o.target_length = 384;
  o.segments.memory_length = 384;
  o.depth = 18;
  o.num_heads = 16;
  o.mlp_dim = 4096;
  o.dropout = 0.2;
  o.plug_ins.attention.head_dim = 64;
  return o;
}

// For corpora of a few million words and machines without a GPU.
TransformerXLOptions small_corpus() {
  TransformerXLOptions o;
  o.vocabulary = {.tokens = 33278, .dim = 256, .cutoffs = {4000, 12000}};
  o.target_length = 64;
  o.segments.memory_length = 64;
  o.depth = 6;
  o.num_heads = 8;
  o.mlp_dim = 1024;
  return o;
}

RegisteredModel transformer_xl(const char* name, const TransformerXLOptions& options) {
  return {.name = name, .language_model = [=](const config::View& table, const LanguageDefaults& defaults) {
            TransformerXLOptions own = options;
            if (defaults.vocabulary) own.vocabulary.tokens = *defaults.vocabulary;
            own = read_transformer_xl_options(table, own);
            const auto build = [own] { return std::make_shared<TransformerXL>(own); };
            return LanguageModelPlan{name, {own.vocabulary.tokens, own.target_length}, own.segments, build};
          }};
}

}  // namespace

std::vector<RegisteredModel> transformer_xl_models() {
  return {transformer_xl("transformer_xl_small", small_corpus()),
          transformer_xl("transformer_xl_wt103_base", wikitext_base()),
          transformer_xl("transformer_xl_wt103_large", wikitext_large())};
}

}  // namespace cachet::models
