#include "cachet/models/language/fixed_beam_search.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cachet/ops/support/finite.h"

namespace cachet::models {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr int64_t kSentenceStep = 8, kLengthStep = 16, kFirstCapacity = 32, kTokensPerCheck = 16;

int64_t rounded_up(int64_t number, int64_t step) { return (number + step - 1) / step * step; }

/// The sentences, padded so that few sizes occur. The additional sentences are copies of the first one.
Sequences in_fixed_sizes(const Sequences& source, int64_t longest) {
  const int64_t count = source.ids.size(0), width = source.ids.size(1);
  const int64_t sentences = rounded_up(count, kSentenceStep) - count;
  const int64_t tokens = std::max<int64_t>(0, std::min(rounded_up(width, kLengthStep), longest) - width);
  const at::Tensor padding =
      source.padding.defined() ? source.padding : at::zeros(source.ids.sizes(), source.ids.options().dtype(at::kBool));
  const auto with_copies = [&](const at::Tensor& all) {
    return sentences == 0 ? all : at::cat({all, all.narrow(0, 0, 1).expand({sentences, -1})});
  };
  return {with_copies(at::constant_pad_nd(source.ids, {0, tokens})),
          with_copies(at::constant_pad_nd(padding, {0, tokens}, true))};
}

/// Gathers rows (N, M) of all (N, B, C): (N, M, C).
at::Tensor rows_of(const at::Tensor& all, const at::Tensor& rows) {
  return all.gather(1, rows.unsqueeze(2).expand({-1, -1, all.size(2)}));
}

class FixedBeamSearch {
 public:
  FixedBeamSearch(TranslationModel& model, FixedDecoder& decoder, const Sequences& source, const BeamOptions& options,
                  const RunPass& run)
      : decoder_(decoder),
        options_(options),
        run_(run),
        special_(model.translation_shape().tokens),
        real_(source.ids.size(0)) {
    const TranslationShape shape = model.translation_shape();
    const std::vector<int64_t> longest = longest_translations(source, options.lengths, shape.target_length - 1);
    needed_ = 1 + *std::ranges::max_element(longest);
    capacity_ = std::min(kFirstCapacity, needed_);
    Sequences padded = in_fixed_sizes(source, shape.source_length);
    sentences_ = padded.ids.size(0);
    const at::Tensor encoded = run_("encode", {&padded.ids, &padded.padding}, [&] {
                                 return std::vector{model.encode(padded).tokens};
                               }).front();
    session_ = decoder.make_fixed_session({encoded, padded.padding}, options.beam, capacity_);
    make_tensors(longest, padded.ids.options());
  }

  std::vector<std::vector<Hypothesis>> run() {
    const std::string key = "decode " + std::to_string(options_.lengths.shortest);
    for (int64_t token = 0; token < needed_; ++token) {
      if (token == capacity_) extend();
      std::vector<at::Tensor*> tensors = decoder_.fixed_tensors(session_);
      for (at::Tensor* own : own_tensors()) tensors.push_back(own);
      run_(key, tensors, [&] {
        write_token();
        return std::vector<at::Tensor>();
      });
      if (((token + 1) % kTokensPerCheck == 0 || token + 1 == needed_) && has_ended()) break;
    }
    return hypotheses();
  }

 private:
  void make_tensors(const std::vector<int64_t>& longest, const at::TensorOptions& integers) {
    const at::TensorOptions numbers = integers.dtype(at::kDouble);
    const int64_t beam = options_.beam;
    last_ = at::full({sentences_ * beam}, special_.begin, integers);
    sums_ = at::full({sentences_, beam}, kImpossible, numbers);
    sums_.narrow(0, 0, real_).select(1, 0).zero_();
    tokens_ = at::zeros({sentences_, beam, capacity_}, integers);
    log_probabilities_ = at::zeros({sentences_, beam, capacity_}, numbers);
    longest_ = at::constant_pad_nd(at::tensor(longest, at::kLong), {0, sentences_ - real_}).to(integers.device());
    // One more than the beam: what is not finished is written there.
    finished_tokens_ = at::zeros({sentences_, beam + 1, capacity_}, integers);
    finished_log_probabilities_ = at::zeros({sentences_, beam + 1, capacity_}, numbers);
    finished_lengths_ = at::zeros({sentences_, beam + 1}, integers);
    finished_ = at::zeros({sentences_}, integers);
    bad_ = at::zeros({}, numbers);
  }

  std::vector<at::Tensor*> own_tensors() {
    return {&last_,
            &sums_,
            &tokens_,
            &log_probabilities_,
            &longest_,
            &finished_tokens_,
            &finished_log_probabilities_,
            &finished_lengths_,
            &finished_,
            &bad_};
  }

  void extend() {
    const int64_t before = std::exchange(capacity_, std::min(2 * capacity_, needed_));
    for (at::Tensor* all : {&tokens_, &log_probabilities_, &finished_tokens_, &finished_log_probabilities_})
      *all = at::constant_pad_nd(*all, {0, capacity_ - before});
    decoder_.extend_fixed(session_, capacity_);
  }

  /// The best 2·beam continuations of each sentence, (N, 2·beam) each, the best first.
  struct Continuations {
    at::Tensor sums, log_probabilities, rows, tokens;
  };

  void write_token() {
    const at::Tensor& step = session_.position;
    const at::Tensor must_end = longest_.eq(step);
    const Continuations best = continuations(must_end);
    const at::Tensor possible = best.sums.isfinite(), ends = best.tokens.eq(special_.end);
    finish(best, possible.logical_and(ends));
    const at::Tensor over = finished_.ge(options_.beam).logical_or_(must_end).unsqueeze(1);
    go_on(best, possible.logical_and(ends.logical_not()).logical_and_(over.logical_not()));
    session_.position.add_(1);
  }

  Continuations continuations(const at::Tensor& must_end) {
    const int64_t beam = options_.beam;
    at::Tensor next = decoder_.next_fixed(last_, session_);  // (N·beam, vocabulary)
    const at::Tensor usable = next.amax(-1).isfinite().view({sentences_, beam});
    bad_.add_(sums_.isfinite().logical_and_(usable.logical_not()).sum());
    if (special_.padding != special_.end) next.select(1, special_.padding).fill_(kImpossible);
    if (special_.known > 0) next.narrow(1, special_.known, next.size(1) - special_.known).fill_(kImpossible);
    const at::Tensor row_must_end = must_end.unsqueeze(1).expand({-1, beam}).reshape({-1});
    const at::Tensor may_end = session_.position.ge(options_.lengths.shortest).logical_or(row_must_end);
    const at::Tensor end = next.select(1, special_.end).masked_fill(may_end.logical_not(), kImpossible);
    next = next.masked_fill(row_must_end.unsqueeze(1), kImpossible);
    next.select(1, special_.end).copy_(end);

    auto [values, tokens] = at::topk(next, std::min(2 * beam, next.size(1)), 1);
    const at::Tensor by_token = tokens.argsort(int64_t{1});  // the order of equal sums: by row, then by token
    const int64_t count = tokens.size(1);
    const at::Tensor log_probabilities = values.gather(1, by_token).to(at::kDouble).view({sentences_, beam * count});
    tokens = tokens.gather(1, by_token).view({sentences_, beam * count});
    const at::Tensor sums =
        sums_.unsqueeze(2).expand({-1, -1, count}).reshape({sentences_, beam * count}) + log_probabilities;
    const auto [sorted, order] = at::sort(sums, /*stable=*/true, 1, /*descending=*/true);
    const int64_t taken = std::min(2 * beam, beam * count);
    const at::Tensor chosen = order.narrow(1, 0, taken);
    return {sorted.narrow(1, 0, taken), log_probabilities.gather(1, chosen), chosen.floor_divide(count),
            tokens.gather(1, chosen)};
  }

  /// The hypotheses of the rows of `best`, with their new tokens at the present position.
  std::pair<at::Tensor, at::Tensor> longer(const at::Tensor& rows, const at::Tensor& tokens,
                                           const at::Tensor& log_probabilities) const {
    return {rows_of(tokens_, rows).index_copy_(2, session_.position, tokens.unsqueeze(2)),
            rows_of(log_probabilities_, rows).index_copy_(2, session_.position, log_probabilities.unsqueeze(2))};
  }

  // Continuations with the end token among the best `beam` are finished, as long as fewer than `beam` are.
  void finish(const Continuations& best, const at::Tensor& ends) {
    const int64_t beam = options_.beam;
    const at::Tensor first = at::arange(best.sums.size(1), finished_.options()).lt(beam);
    const at::Tensor ending = ends.logical_and(first);
    const at::Tensor wanted = finished_.unsqueeze(1) + ending.cumsum(1) - 1;
    const at::Tensor slots = wanted.masked_fill(ending.logical_not(), beam).clamp_max(beam);
    const auto [tokens, log_probabilities] = longer(best.rows, best.tokens, best.log_probabilities);
    const at::Tensor index = slots.unsqueeze(2).expand_as(tokens);
    finished_tokens_.scatter_(1, index, tokens);
    finished_log_probabilities_.scatter_(1, index, log_probabilities);
    finished_lengths_.scatter_(1, slots, (session_.position + 1).expand_as(slots));
    finished_.copy_((finished_ + ending.sum(1)).clamp_max(beam));
  }

  // The first `beam` continuations become the rows of their sentence. Rows that are left over are impossible.
  void go_on(const Continuations& best, const at::Tensor& going_on) {
    const int64_t beam = options_.beam;
    const at::Tensor slots = (going_on.cumsum(1) - 1).masked_fill(going_on.logical_not(), beam).clamp_max(beam);
    const auto in_slots = [&](const at::Tensor& values, double otherwise) {
      return at::full({sentences_, beam + 1}, otherwise, values.options())
          .scatter_(1, slots, values)
          .narrow(1, 0, beam);
    };
    const at::Tensor rows = in_slots(best.rows, 0), tokens = in_slots(best.tokens, static_cast<double>(special_.begin));
    const auto [longer_tokens, longer_log_probabilities] = longer(rows, tokens, in_slots(best.log_probabilities, 0));
    tokens_.copy_(longer_tokens);
    log_probabilities_.copy_(longer_log_probabilities);
    sums_.copy_(in_slots(best.sums, kImpossible));
    last_.copy_(tokens.reshape({-1}));
    if (beam == 1) return;  // the one row stays
    const at::Tensor first_rows = at::arange(sentences_, rows.options()).mul_(beam).unsqueeze(1);
    decoder_.reorder_fixed(session_, (first_rows + rows).reshape({-1}));
  }

  // Waits for the device.
  bool has_ended() const {
    const at::Tensor numbers = at::stack({bad_, sums_.isfinite().sum().to(at::kDouble)}).cpu();
    const double bad = numbers.const_data_ptr<double>()[0];
    ops::require_finite_scores(at::full({}, bad > 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0));
    return numbers.const_data_ptr<double>()[1] == 0;
  }

  std::vector<std::vector<Hypothesis>> hypotheses() const {
    const auto here = [](const at::Tensor& all) { return all.cpu().contiguous(); };
    const at::Tensor counts = here(finished_), lengths = here(finished_lengths_), tokens = here(finished_tokens_),
                     log_probabilities = here(finished_log_probabilities_);
    std::vector<std::vector<Hypothesis>> all(static_cast<size_t>(real_));
    for (int64_t sentence = 0; sentence < real_; ++sentence) {
      std::vector<Hypothesis>& own = all[static_cast<size_t>(sentence)];
      for (int64_t i = 0; i < counts.const_data_ptr<int64_t>()[sentence]; ++i) {
        const int64_t place = sentence * (options_.beam + 1) + i, first = place * capacity_;
        const int64_t length = lengths.const_data_ptr<int64_t>()[place];
        const auto* token = tokens.const_data_ptr<int64_t>() + first;
        const auto* log_probability = log_probabilities.const_data_ptr<double>() + first;
        Hypothesis& one = own.emplace_back();
        one.tokens.assign(token, token + length);
        one.log_probabilities.assign(log_probability, log_probability + length);
        one.score = hypothesis_score(one.log_probabilities, options_.length_penalty);
      }
      std::ranges::stable_sort(own, std::greater(), &Hypothesis::score);
      if (std::ssize(own) > options_.n_best) own.resize(static_cast<size_t>(options_.n_best));
    }
    return all;
  }

  FixedDecoder& decoder_;
  BeamOptions options_;
  const RunPass& run_;
  TranslationTokens special_;
  int64_t real_, sentences_ = 0;  // without, and with the additional sentences
  int64_t needed_ = 0, capacity_ = 0;
  FixedSession session_;
  at::Tensor last_, sums_, tokens_, log_probabilities_, longest_;
  at::Tensor finished_tokens_, finished_log_probabilities_, finished_lengths_, finished_;
  at::Tensor bad_;  // above 0 if a row had no possible token, or NaN
};

}  // namespace

std::vector<std::vector<Hypothesis>> fixed_beam_search(TranslationModel& model, FixedDecoder& decoder,
                                                       const Sequences& source, const BeamOptions& options,
                                                       const RunPass& run) {
  check_beam(options);
  const at::NoGradGuard no_grad;
  return FixedBeamSearch(model, decoder, source, options, run).run();
}

}  // namespace cachet::models
