#pragma once

#include <ATen/ATen.h>

#include <memory>

#include "cachet/models/language/translation_transformer.h"

namespace cachet::test {

/// Twenty tokens, 0 padding, 1 unknown, 2 the begin, 3 the end; sentences of at most 8.
inline models::TranslationTransformerOptions small_translation_options() {
  models::TranslationTransformerOptions o;
  o.text = {20, 20, 8, 8, {}};
  o.embed_dim = 8;
  o.encoder = o.decoder = {2, 2, 12};
  o.shared = models::SharedEmbeddings::all;
  o.dropout = 0;
  return o;
}

/// In float64, with weights that make neighbours matter.
inline std::shared_ptr<models::TranslationTransformer> made_translation_model(
    const models::TranslationTransformerOptions& options) {
  auto model = std::make_shared<models::TranslationTransformer>(options);
  model->to(at::kDouble);
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : model->parameters()) parameter.add_(at::randn_like(parameter) / 4);
  return model;
}

/// Three pairs of several lengths: sources padded before the first and after the others, targets after.
inline models::SentencePairs drawn_pairs() {
  models::SentencePairs pairs{{at::randint(4, 20, {3, 6}, at::kLong), at::zeros({3, 6}, at::kBool)},
                              {at::randint(4, 20, {3, 7}, at::kLong), at::zeros({3, 7}, at::kBool)},
                              at::randint(4, 20, {3, 7}, at::kLong)};
  pairs.source.padding[0].narrow(0, 0, 2).fill_(true);
  pairs.source.padding[2].narrow(0, 3, 3).fill_(true);
  pairs.target.padding[0].narrow(0, 5, 2).fill_(true);
  pairs.target.padding[1].narrow(0, 3, 4).fill_(true);
  pairs.source.ids.masked_fill_(pairs.source.padding, 0);
  pairs.target.ids.masked_fill_(pairs.target.padding, 0);
  pairs.target.ids.select(1, 0).fill_(2);
  pairs.targets.masked_fill_(pairs.target.padding, -1);
  return pairs;
}

}  // namespace cachet::test
