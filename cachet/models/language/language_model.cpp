#include "cachet/models/language/language_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>

#include <cmath>
#include <vector>

namespace cachet::models {

ModelInput input_of(const LanguageShape& text) {
  return {"text",
          {{"vocabulary", text.vocabulary}, {"target_length", text.target_length}},
          std::to_string(text.target_length) + " tokens"};
}

namespace {

/// Tokens (batch, length) as a vocabulary that is ordered by count has them, the n-th with a frequency of about 1/n,
/// which decides what an adaptive softmax has to do. The same each time.
torch::Tensor common_tokens(int64_t vocabulary, int64_t batch, int64_t length, const torch::TensorOptions& options) {
  const torch::Tensor quantile = (at::arange(batch * length, options.dtype(at::kDouble)) + 0.5) / (batch * length);
  const torch::Tensor rank = (quantile * std::log(static_cast<double>(vocabulary) + 1)).exp() - 1;
  return rank.to(at::kLong).clamp_max(vocabulary - 1).view({batch, length});
}

}  // namespace

Trial LanguageModel::trial(int64_t batch, const torch::TensorOptions& options) {
  const LanguageShape shape = language_shape();
  // An adaptive vocabulary looks at the values to find the cluster of each token.
  const torch::TensorOptions of_ids = options.device().is_meta() ? options.device(at::kCPU) : options;
  const torch::Tensor ids = common_tokens(shape.vocabulary, batch, shape.target_length, of_ids);
  std::vector<LanguageSession> before{session_in_the_middle(ids)};
  // Positions are computed anew for each segment of a whole text: the same ones must not recur in the next call.
  if (before.front().segments.whole_past) {
    const at::NoGradGuard no_grad;
    before.push_back({before.front().segments, before.front().state->clone()});
    read(ids, before.back());
  }
  const std::function<torch::Tensor()> losses = [this, ids, before, call = size_t{0}]() mutable {
    const LanguageSession& from = before[call++ % before.size()];
    LanguageSession session{from.segments, from.state->clone()};
    const torch::Tensor all = negative_log_likelihood(ids, ids, session);
    session.state->detach();  // where truncated back-propagation stops
    return all;
  };
  return {losses, [this, losses] { return with_penalty(losses().mean()); }};
}

LanguageSession LanguageModel::session_in_the_middle(const torch::Tensor& ids) {
  const at::NoGradGuard no_grad;
  LanguageSession session = make_session(ids.size(0), segments());
  session.state->fill(session.segments.memory_length);
  read(ids, session);  // a cache, sums and memory tokens have what one segment leaves
  session.state->detach();
  return session;
}

}  // namespace cachet::models
