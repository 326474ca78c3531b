#include "cachet/models/language/token_generator.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <stdexcept>
#include <string>

#include "cachet/ops/support/finite.h"

namespace cachet::models {
namespace {

torch::Tensor one_batch_row(const std::vector<int64_t>& tokens, const torch::Device& device) {
  return at::from_blob(const_cast<int64_t*>(tokens.data()), {1, static_cast<int64_t>(tokens.size())}, at::kLong)
      .clone()
      .to(device);
}

}  // namespace

TokenGenerator::TokenGenerator(LanguageModel& model, const SegmentOptions& segments, const SamplingOptions& sampling,
                               uint64_t seed, int64_t known)
    : model_(model),
      sampling_(sampling),
      known_(known > 0 ? known : model.language_shape().vocabulary),
      segment_length_(model.language_shape().target_length),
      keeps_past_((segments.memory_length > 0 || segments.whole_past) && !model.remembers_segments()),
      session_(model.make_session(/*lanes=*/1, segments)),
      random_(seed) {
  check_sampling(sampling);
  if (known_ > model.language_shape().vocabulary)
    throw std::invalid_argument("there are " + std::to_string(known_) +
                                " known tokens, but the model's vocabulary is smaller");
}

void TokenGenerator::read(std::span<const int64_t> tokens) {
  for (const int64_t token : tokens) read_one(token);
}

void TokenGenerator::read_one(int64_t token) {
  const at::NoGradGuard no_grad;
  const bool whole = static_cast<int64_t>(unread_.size()) == segment_length_;
  if (whole && (keeps_past_ || model_.remembers_segments())) {
    // The segment is over: what the model remembers takes it in.
    model_.read(one_batch_row(unread_, model_.device()), session_);
    unread_.clear();
  } else if (whole) {
    unread_.erase(unread_.begin());
  }
  unread_.push_back(token);
  if (sampling_.repetition_penalty != 1.0) seen_.push_back(token);
}

std::vector<double> TokenGenerator::scores() {
  if (unread_.empty()) throw std::logic_error("append the first token of the text before you ask for scores");
  const at::NoGradGuard no_grad;
  const torch::Tensor ids = one_batch_row(unread_, model_.device());
  LanguageSession beside{session_.segments, keeps_past_ ? session_.state : session_.state->clone()};
  const torch::Tensor logs = model_.next_token(ids, beside).to(at::kDouble).cpu().contiguous();
  ops::require_log_probabilities(logs);
  if (keeps_past_) unread_.clear();  // the session has them
  return {logs.const_data_ptr<double>(), logs.const_data_ptr<double>() + known_};
}

int64_t TokenGenerator::next() {
  const std::vector<double> probabilities = sampling_distribution(scores(), seen_, sampling_);
  const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
  const int64_t token = drawn_token(probabilities, uniform);
  read_one(token);
  return token;
}

}  // namespace cachet::models
