// Scores of the first tokens of a text, which exports are compared by.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <random>

#include "cachet/ops/support/finite.h"
#include "cachet/tasks/language_modelling/language_modelling.h"

namespace cachet::tasks {
namespace {

/// Batch rows of tokens, each from where the one before ends, and again from the first where a text is too short.
at::Tensor batch_rows_of_text(const data::TokenSequence& text, int64_t batch_rows, int64_t length) {
  const at::Tensor ids = at::empty({batch_rows, length}, at::kLong);
  auto* out = ids.mutable_data_ptr<int64_t>();
  for (int64_t left = ids.numel(), place = 0; left > 0; place = 0) {
    const int64_t count = std::min(left, text.size() - place);
    text.read(place, count, out);
    out += count;
    left -= count;
  }
  return ids;
}

at::Tensor synthetic_batch_rows(int64_t vocabulary, int64_t batch_rows, int64_t length) {
  const at::Tensor ids = at::empty({batch_rows, length}, at::kLong);
  std::mt19937_64 random(0);
  auto* out = ids.mutable_data_ptr<int64_t>();
  std::generate_n(out, ids.numel(), [&] { return static_cast<int64_t>(random() % static_cast<uint64_t>(vocabulary)); });
  return ids;
}

}  // namespace

// Segment after segment, so that what the model remembers is asked, too.
ComparedScores LanguageModelling::compared_scores() {
  const at::NoGradGuard no_grad;
  constexpr int64_t batch_rows = 16, segments = kComparedBeginnings / batch_rows;
  const int64_t length = options_.evaluation.target_length;
  const at::Tensor ids =
      (held_out_ ? batch_rows_of_text(*held_out_->tokens, batch_rows, segments * length)
                 : synthetic_batch_rows(model_->language_shape().vocabulary, batch_rows, segments * length))
          .to(model_->device());
  models::LanguageSession session = model_->make_session(batch_rows, options_.evaluation.segments);
  std::vector<at::Tensor> scores;
  for (int64_t i = 0; i < segments; ++i)
    ops::require_log_probabilities(scores.emplace_back(model_->next_token(ids.narrow(1, i * length, length), session)));
  return {at::cat(scores).cpu(), compared_samples(std::to_string(kComparedBeginnings) + " beginnings of ",
                                                  sample_words(), held_out_.has_value())};
}

ShownSample LanguageModelling::run_over(int64_t index) {
  const at::NoGradGuard no_grad;
  const int64_t length = options_.evaluation.target_length;
  const at::Tensor ids =
      batch_rows_of_text(*held_out_->tokens, 1, (index + 1) * length).narrow(1, index * length, length);
  models::LanguageSession session = model_->make_session(1, options_.evaluation.segments);
  model_->next_token(ids.to(model_->device()), session);
  ShownSample shown;
  for (int64_t place = 0; place < length; ++place) {
    const std::vector<data::Token> token{static_cast<data::Token>(ids[0][place].item<int64_t>())};
    shown.tokens.push_back(encoder_->decode(token));
  }
  return shown;
}

}  // namespace cachet::tasks
