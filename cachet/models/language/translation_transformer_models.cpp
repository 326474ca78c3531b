#include "cachet/models/language/translation_transformer.h"
#include "cachet/models/registered_model.h"

namespace cachet::models {
namespace {

TranslationTransformerOptions translation_size(int64_t embed_dim, const TransformerHalf& half, double dropout) {
  TranslationTransformerOptions o;
  o.embed_dim = embed_dim;
  o.encoder = o.decoder = half;
  o.dropout = dropout;
  return o;
}

RegisteredModel translation_transformer(const char* name, const TranslationTransformerOptions& options) {
  return {
      .name = name, .translation_model = [=](const config::View& table, const TranslationDefaults& defaults) {
        TranslationTransformerOptions own = options;
        if (defaults.source_vocabulary) own.text.source_vocabulary = *defaults.source_vocabulary;
        if (defaults.target_vocabulary) own.text.target_vocabulary = *defaults.target_vocabulary;
        if (defaults.length) own.text.source_length = own.text.target_length = *defaults.length;
        if (defaults.joint.value_or(true)) own.shared = SharedEmbeddings::all;
        own = read_translation_transformer_options(table, own);
        return TranslationModelPlan{name, own.text, [own] { return std::make_shared<TranslationTransformer>(own); }};
      }};
}

}  // namespace

// fairseq's sizes, pre-norm, with one table of embeddings where the languages share their vocabulary (Unified
// Normalization, arXiv 2208.01313, App. B.1); transformer_translation_small is for corpora of some 10,000 sentences.
std::vector<RegisteredModel> translation_transformer_models() {
  return {translation_transformer("transformer_iwslt_de_en", translation_size(512, {6, 4, 1024}, 0.3)),
          translation_transformer("transformer_translation_small", translation_size(256, {3, 4, 1024}, 0.3)),
          translation_transformer("transformer_wmt_base", translation_size(512, {6, 8, 2048}, 0.1)),
          translation_transformer("transformer_wmt_big", translation_size(1024, {6, 16, 4096}, 0.3))};
}

}  // namespace cachet::models
