#include "cachet/models/language/translation_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/randint.h>

#include <cmath>

namespace cachet::models {

ModelInput input_of(const TranslationShape& text) {
  return {"sentence pair",
          {{"source_vocabulary", text.source_vocabulary},
           {"target_vocabulary", text.target_vocabulary},
           {"source_length", text.source_length},
           {"target_length", text.target_length}},
          std::to_string(text.source_length) + " tokens -> " + std::to_string(text.target_length)};
}

// The weight of each token is ε/(V − 1) in the one and ε/V in the other.
double smoothing_among_others(const LabelSmoothing& smoothing, int64_t vocabulary) {
  TORCH_CHECK(std::isfinite(smoothing.amount) && smoothing.amount >= 0 && smoothing.amount < 1,
              "translation_model: label smoothing must be at least 0 and below 1, got ", smoothing.amount);
  if (smoothing.share == SmoothingShare::others) return smoothing.amount;
  return smoothing.amount * (1 - 1 / static_cast<double>(vocabulary));
}

Trial TranslationModel::trial(int64_t batch, const torch::TensorOptions& options) {
  const TranslationShape shape = translation_shape();
  const auto tokens = [&](int64_t vocabulary, int64_t length) {
    return at::randint(vocabulary, {batch, length}, options.dtype(at::kLong));
  };
  const SentencePairs pairs{{tokens(shape.source_vocabulary, shape.source_length), {}},
                            {tokens(shape.target_vocabulary, shape.target_length), {}},
                            tokens(shape.target_vocabulary, shape.target_length)};
  const auto loss = [this, pairs] { return losses(pairs, {}).loss; };
  return {loss, [this, loss] { return with_penalty(loss().mean()); }};
}

}  // namespace cachet::models
