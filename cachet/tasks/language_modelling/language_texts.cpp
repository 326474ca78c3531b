// What a language model does with texts that a user gives: it continues them and scores them.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <deque>
#include <limits>

#include "cachet/models/language/token_generator.h"
#include "cachet/ops/support/finite.h"
#include "cachet/tasks/language_modelling/language_modelling.h"
#include "cachet/tasks/language_modelling/segment_losses.h"

namespace cachet::tasks {
namespace {

/// The tokens of lines that come one by one, scored a segment at a time.
class LineScores {
 public:
  LineScores(models::LanguageModel& model, const LanguageEvaluationOptions& how, data::Token before,
             const std::function<void(const ScoredLine& line)>& seen, const std::function<void(int64_t tokens)>& scored)
      : model_(model),
        segment_(how.target_length),
        session_(model.make_session(1, how.segments)),
        seen_(seen),
        scored_(scored) {
    ids_.push_back(before);
  }

  void add(const data::EncodedCorpus& line) {
    const auto tokens = static_cast<int64_t>(line.tokens.size());
    lines_.push_back({next_line_++, tokens, 0.0, line.text, line.coded});
    left_.push_back(tokens);
    for (const data::Token token : line.tokens) {
      ids_.push_back(token);
      if (static_cast<int64_t>(ids_.size()) > segment_) score();
    }
  }
  void finish() {
    if (ids_.size() > 1) score();
  }

 private:
  void score() {
    const at::Tensor all = at::tensor(ids_, at::kLong).unsqueeze(0).to(model_.device());
    const int64_t length = all.size(1) - 1;
    const at::Tensor all_losses =
        model_.negative_log_likelihood(all.narrow(1, 0, length), all.narrow(1, 1, length), session_);
    ops::require_finite_scores(all_losses);
    const at::Tensor losses = all_losses[0].to(at::kDouble).cpu().contiguous();
    for (int64_t i = 0; i < length; ++i) {
      while (left_.front() == 0) pop();
      lines_.front().loss += losses.const_data_ptr<double>()[i];
      --left_.front();
    }
    while (!left_.empty() && left_.front() == 0) pop();
    ids_.erase(ids_.begin(), ids_.end() - 1);  // the last target is read first in the next segment
    tokens_ += length;
    scored_(tokens_);
  }
  void pop() {
    seen_(lines_.front());
    lines_.pop_front();
    left_.pop_front();
  }

  models::LanguageModel& model_;
  int64_t segment_, next_line_ = 0, tokens_ = 0;
  models::LanguageSession session_;
  const std::function<void(const ScoredLine& line)>& seen_;
  const std::function<void(int64_t tokens)>& scored_;
  std::vector<int64_t> ids_;
  std::deque<ScoredLine> lines_;
  std::deque<int64_t> left_;  // of each line, tokens without a score
};

}  // namespace

void LanguageModelling::generate(const std::string& prompt, const GenerationOptions& options,
                                 const std::function<void(const std::string& piece)>& seen) {
  models::TokenGenerator generator(*model_, options_.evaluation.segments, options.sampling, options.seed,
                                   encoder_->vocabulary().size);
  // A text begins after the end of a line.
  std::vector<int64_t> given{data::line_end(options_.corpus.tokens, encoder_->vocabulary())};
  const data::EncodedText encoded = encoder_->encode(prompt, std::numeric_limits<int64_t>::max() - 1);
  given.insert(given.end(), encoded.tokens.begin(), encoded.tokens.end());
  generator.read(given);
  std::vector<data::Token> all(encoded.tokens);
  std::string text = encoder_->decode(all);
  for (int64_t i = 0; i < options.tokens; ++i) {
    all.push_back(static_cast<data::Token>(generator.next()));
    // A token's text may depend on those before it, and a character may be several.
    const std::string longer = encoder_->decode(all);
    if (longer.size() <= text.size()) continue;
    seen(longer.substr(text.size()));
    text = longer;
  }
}

void LanguageModelling::score_text(const std::function<std::optional<std::string>()>& next_line,
                                   const std::function<void(const ScoredLine& line)>& seen,
                                   const std::function<void(int64_t tokens)>& scored) {
  const at::NoGradGuard no_grad;
  LineScores scores(*model_, options_.evaluation, data::line_end(options_.corpus.tokens, encoder_->vocabulary()), seen,
                    scored);
  while (const auto line = next_line())
    scores.add(data::encode_corpus(*line + "\n", *encoder_, options_.corpus.tokens, data::CountCoded::yes));
  scores.finish();
}

}  // namespace cachet::tasks
