// Scores of the first tokens of translations, which exports are compared by.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <random>

#include "cachet/ops/support/finite.h"
#include "cachet/tasks/translation/translation_task.h"

namespace cachet::tasks {
namespace {

using Side = data::ParallelSide;

constexpr int64_t kLongestSyntheticSource = 24;

/// The beginning of a translation, and the sentence that it translates with its end.
struct BegunTranslation {
  std::vector<int64_t> source, target;
};

std::vector<BegunTranslation> synthetic_translations(const models::TranslationShape& text, int64_t count,
                                                     int64_t steps) {
  std::mt19937_64 random(0);
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
  std::vector<BegunTranslation> all(static_cast<size_t>(count));
  for (BegunTranslation& each : all) {
    each.source.resize(static_cast<size_t>(1 + below(std::min(text.source_length, kLongestSyntheticSource))));
    each.target.resize(static_cast<size_t>(steps));
    for (int64_t& token : each.source) token = below(text.source_vocabulary);
    for (int64_t& token : each.target) token = below(text.target_vocabulary);
  }
  return all;
}

models::Sequences padded(const std::vector<BegunTranslation>& all, const at::Device& device) {
  size_t longest = 0;
  for (const BegunTranslation& each : all) longest = std::max(longest, each.source.size());
  const auto rows = static_cast<int64_t>(all.size());
  const at::Tensor ids = at::full({rows, static_cast<int64_t>(longest)}, data::kPaddingToken, at::kLong);
  const at::Tensor padding = at::full({rows, static_cast<int64_t>(longest)}, true, at::kBool);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto length = static_cast<int64_t>(all[i].source.size()), row = static_cast<int64_t>(i);
    ids[row].narrow(0, 0, length).copy_(at::tensor(all[i].source, at::kLong));
    padding[row].narrow(0, 0, length).fill_(false);
  }
  return {ids.to(device), padding.to(device)};
}

}  // namespace

// The first tokens of the held-out split's first translations, one after the other.
ComparedScores TranslationTask::compared_scores() {
  const at::NoGradGuard no_grad;
  const models::TranslationShape text = model_->translation_shape();
  const int64_t steps = std::min<int64_t>(4, text.target_length), count = (kComparedBeginnings + steps - 1) / steps;
  std::vector<BegunTranslation> begun;
  if (!held_out_) begun = synthetic_translations(text, count, steps);
  while (static_cast<int64_t>(begun.size()) < count) {
    const int64_t pair = static_cast<int64_t>(begun.size()) % held_out_->size();
    const auto source = held_out_->tokens(Side::source, pair), target = held_out_->tokens(Side::target, pair);
    begun.push_back({{source.begin(), source.end()}, {target.begin(), target.end()}});
    begun.back().source.push_back(encoders_->source.marks.end);
    begun.back().target.resize(static_cast<size_t>(steps), text.tokens.end);
  }
  models::TranslationSession session = model_->make_session(model_->encode(padded(begun, model_->device())));
  std::vector<at::Tensor> scores;
  std::vector<int64_t> last(begun.size(), text.tokens.begin);
  for (size_t step = 0; step < static_cast<size_t>(steps); ++step) {
    ops::require_log_probabilities(
        scores.emplace_back(model_->next_token(at::tensor(last, at::kLong).to(model_->device()), session)));
    std::ranges::transform(begun, last.begin(), [step](const BegunTranslation& each) { return each.target[step]; });
  }
  return {
      at::cat(scores).narrow(0, 0, kComparedBeginnings).cpu(),
      compared_samples(std::to_string(kComparedBeginnings) + " beginnings of ", sample_words(), held_out_ != nullptr)};
}

}  // namespace cachet::tasks
