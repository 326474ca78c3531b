#include "cachet/models/language/language_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include <cmath>

namespace cachet::models {

ModelInput input_of(const LanguageShape& text) {
  return {"text",
          {{"vocabulary", text.vocabulary}, {"target_length", text.target_length}},
          std::to_string(text.target_length) + " tokens"};
}

namespace {

/// Tokens (batch, length) as a vocabulary that is ordered by count has them, the n-th with a share of about 1/n,
/// which decides what an adaptive softmax has to do. The same each time.
torch::Tensor common_tokens(int64_t vocabulary, int64_t batch, int64_t length, const torch::TensorOptions& options) {
  const torch::Tensor share = (at::arange(batch * length, options.dtype(at::kDouble)) + 0.5) / (batch * length);
  const torch::Tensor rank = (share * std::log(static_cast<double>(vocabulary) + 1)).exp() - 1;
  return rank.to(at::kLong).clamp_max(vocabulary - 1).view({batch, length});
}

}  // namespace

Trial LanguageModel::trial(int64_t batch, const torch::TensorOptions& options) {
  const LanguageShape shape = language_shape();
  // An adaptive vocabulary looks at the values to find the cluster of each token.
  const torch::TensorOptions of_ids = options.device().is_meta() ? options.device(at::kCPU) : options;
  const torch::Tensor ids = common_tokens(shape.vocabulary, batch, shape.target_length, of_ids);
  const auto losses = [this, ids] {
    TextStream stream = make_stream(ids.size(0), segments());
    return negative_log_likelihood(ids, ids, stream);
  };
  return {losses, [losses] { return losses().mean(); }};
}

}  // namespace cachet::models
