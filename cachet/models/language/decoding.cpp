#include "cachet/models/language/decoding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "cachet/ops/support/finite.h"

namespace cachet::models {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

void check_limits(const LengthLimits& limits) {
  if (limits.shortest < 0) throw std::invalid_argument("the minimum length of a translation must be at least 0");
  if (!std::isfinite(limits.per_token) || limits.per_token < 0 || limits.added < 0)
    throw std::invalid_argument("the maximum length of a translation must be at least 0 for a source of any length");
}

torch::Tensor on_device(std::span<const int64_t> numbers, const torch::Device& device) {
  return at::tensor(at::ArrayRef<int64_t>(numbers.data(), numbers.size()), at::kLong).to(device);
}

// Sentences of like lengths lie next to each other in a batch: in parts, each as wide as its own longest, fewer
// positions of padding are encoded.
EncodedSentences encode_in_parts(TranslationModel& model, const Sequences& source) {
  constexpr int64_t kSentencesAtOnce = 32;
  const int64_t count = source.ids.size(0), width = source.ids.size(1);
  if (!source.padding.defined() || count <= kSentencesAtOnce) return model.encode(source);
  const torch::Tensor positions = at::arange(1, width + 1, source.ids.options());
  const torch::Tensor lengths = positions.mul(source.padding.bitwise_not()).amax(1).cpu().contiguous();
  const auto* length = lengths.const_data_ptr<int64_t>();
  EncodedSentences whole{{}, source.padding};
  for (int64_t first = 0; first < count; first += kSentencesAtOnce) {
    const int64_t last = std::min(first + kSentencesAtOnce, count);
    const int64_t longest = std::max<int64_t>(1, *std::max_element(length + first, length + last));
    const auto part_of = [&](const torch::Tensor& all) { return all.slice(0, first, last).slice(1, 0, longest); };
    const torch::Tensor part = model.encode({part_of(source.ids), part_of(source.padding)}).tokens;
    if (!whole.tokens.defined()) whole.tokens = at::zeros({count, width, part.size(2)}, part.options());
    part_of(whole.tokens).copy_(part);
  }
  return whole;
}

}  // namespace

std::vector<int64_t> longest_translations(const Sequences& source, const LengthLimits& limits, int64_t most) {
  check_limits(limits);
  const int64_t width = source.ids.size(1);
  std::vector<int64_t> widths(static_cast<size_t>(source.ids.size(0)), width);
  if (limits.width == LengthLimits::Width::sentence && source.padding.defined()) {
    const torch::Tensor padded = source.padding.sum(1).to(at::kLong).cpu().contiguous();
    for (size_t i = 0; i < widths.size(); ++i) widths[i] -= padded.const_data_ptr<int64_t>()[i];
  }
  for (int64_t& each : widths) {
    const double longest = limits.per_token * static_cast<double>(each) + static_cast<double>(limits.added);
    each = longest < static_cast<double>(most) ? static_cast<int64_t>(longest) : most;
  }
  return widths;
}

double hypothesis_score(std::span<const double> log_probabilities, double length_penalty) {
  const double sum = std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0);
  return sum / std::pow(static_cast<double>(log_probabilities.size()), length_penalty);
}

DecodingRows::DecodingRows(TranslationModel& model, const Sequences& source, const LengthLimits& limits)
    : model_(model), limits_(limits) {
  TORCH_CHECK(!model.is_training(), "decoding: translation needs evaluation mode; call eval() first");
  const at::NoGradGuard no_grad;
  longest_ = longest_translations(source, limits, model.translation_shape().target_length - 1);
  session_ = model.make_session(encode_in_parts(model, source));
  sentences_.resize(static_cast<size_t>(source.ids.size(0)));
  std::iota(sentences_.begin(), sentences_.end(), int64_t{0});
}

torch::Tensor DecodingRows::next(std::span<const int64_t> last_tokens) {
  const at::NoGradGuard no_grad;
  torch::Tensor log_probabilities = model_.next_token(on_device(last_tokens, model_.device()), session_);
  ops::require_log_probabilities(log_probabilities);
  const TranslationTokens special = model_.translation_shape().tokens;
  // Some vocabularies have one id for both: masks mark the padding.
  if (special.padding != special.end) log_probabilities.select(1, special.padding).fill_(kNever);
  if (special.known > 0)
    log_probabilities.narrow(1, special.known, log_probabilities.size(1) - special.known).fill_(kNever);
  return log_probabilities;
}

void DecodingRows::go_on(std::span<const int64_t> rows) {
  ++step_;
  std::vector<int64_t> sentences;
  bool stays = rows.size() == sentences_.size(), same_sentences = stays;
  for (size_t i = 0; i < rows.size(); ++i) {
    sentences.push_back(sentences_[static_cast<size_t>(rows[i])]);
    stays = stays && rows[i] == static_cast<int64_t>(i);
    same_sentences = same_sentences && sentences[i] == sentences_[i];
  }
  sentences_ = std::move(sentences);
  if (stays || rows.empty()) return;
  const at::NoGradGuard no_grad;
  model_.reorder(session_, on_device(rows, at::kCPU), same_sentences);
}

std::vector<int64_t> with_gaps_filled(std::vector<int64_t> kept) {
  const auto count = static_cast<int64_t>(kept.size());
  std::vector<int64_t> filled(kept.size(), -1);
  for (const int64_t place : kept)
    if (place < count) filled[static_cast<size_t>(place)] = place;
  for (auto gap = filled.begin(); !kept.empty() && kept.back() >= count; kept.pop_back()) {
    gap = std::find(gap, filled.end(), -1);
    *gap = kept.back();
  }
  return filled;
}

std::vector<Hypothesis> write_one_by_one(TranslationModel& model, const Sequences& source, const LengthLimits& limits,
                                         double length_penalty, const ChooseTokens& choose) {
  const TranslationTokens special = model.translation_shape().tokens;
  DecodingRows batch_rows(model, source, limits);
  std::vector<Hypothesis> written(batch_rows.sentences().size());
  std::vector<int64_t> last(written.size(), special.begin);
  while (!batch_rows.sentences().empty()) {
    torch::Tensor log_probabilities = batch_rows.next(last);
    torch::Tensor possible = log_probabilities;
    if (!batch_rows.may_end()) {
      possible = log_probabilities.clone();
      possible.select(1, special.end).fill_(kNever);
    }
    std::vector<int64_t> tokens = choose(possible, batch_rows.sentences(), written);
    for (size_t batch_row = 0; batch_row < tokens.size(); ++batch_row)
      if (batch_rows.must_end(batch_rows.sentences()[batch_row])) tokens[batch_row] = special.end;
    const torch::Tensor chosen =
        log_probabilities.gather(1, on_device(tokens, log_probabilities.device()).unsqueeze(1)).to(at::kDouble).cpu();
    std::vector<int64_t> rows;
    for (size_t batch_row = 0; batch_row < tokens.size(); ++batch_row) {
      Hypothesis& own = written[static_cast<size_t>(batch_rows.sentences()[batch_row])];
      own.tokens.push_back(tokens[batch_row]);
      own.log_probabilities.push_back(chosen.const_data_ptr<double>()[batch_row]);
      if (tokens[batch_row] == special.end) continue;
      rows.push_back(static_cast<int64_t>(batch_row));
    }
    rows = with_gaps_filled(std::move(rows));
    last.clear();
    for (const int64_t batch_row : rows) last.push_back(tokens[static_cast<size_t>(batch_row)]);
    batch_rows.go_on(rows);
  }
  for (Hypothesis& each : written) each.score = hypothesis_score(each.log_probabilities, length_penalty);
  return written;
}

}  // namespace cachet::models
