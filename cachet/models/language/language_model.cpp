#include "cachet/models/language/language_model.h"

#include <ATen/ops/randint.h>

namespace cachet::models {

ModelInput input_of(const LanguageShape& text) {
  return {"text",
          {{"vocabulary", text.vocabulary}, {"target_length", text.target_length}},
          std::to_string(text.target_length) + " tokens"};
}

Trial LanguageModel::trial(int64_t batch, const torch::TensorOptions& options) {
  const LanguageShape shape = language_shape();
  const auto tokens = [&] {
    return at::randint(shape.vocabulary, {batch, shape.target_length}, options.dtype(at::kLong));
  };
  const torch::Tensor ids = tokens(), targets = tokens();
  const auto losses = [this, ids, targets] {
    TextStream stream = make_stream(ids.size(0), segments());
    return negative_log_likelihood(ids, targets, stream);
  };
  return {losses, [losses] { return losses().mean(); }};
}

}  // namespace cachet::models
