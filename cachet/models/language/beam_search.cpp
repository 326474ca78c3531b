#include "cachet/models/language/beam_search.h"

#include <ATen/ops/topk.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

namespace cachet::models {
namespace {

/// A hypothesis that a batch row writes.
struct LiveHypothesis {
  std::vector<int64_t> tokens;
  std::vector<double> log_probabilities;
  double sum = 0.0;
};

/// A token that may follow what a batch row has written.
struct Continuation {
  double sum = 0.0, log_probability = 0.0;
  int64_t batch_row = 0, token = 0;
};

Hypothesis finished(const LiveHypothesis& live, const Continuation& with, double length_penalty) {
  Hypothesis whole{live.tokens, live.log_probabilities};
  whole.tokens.push_back(with.token);
  whole.log_probabilities.push_back(with.log_probability);
  whole.score = hypothesis_score(whole.log_probabilities, length_penalty);
  return whole;
}

LiveHypothesis longer(LiveHypothesis live, const Continuation& with) {
  live.tokens.push_back(with.token);
  live.log_probabilities.push_back(with.log_probability);
  live.sum = with.sum;
  return live;
}

/// What a step knows of the next tokens: of each batch row the best, and the end.
struct NextTokens {
  torch::Tensor values, tokens, ends;  // (batch rows, count), (batch rows, count), (batch rows), on the CPU

  NextTokens(const torch::Tensor& log_probabilities, int64_t end, bool may_end, int64_t count) {
    ends = log_probabilities.select(1, end).to(at::kDouble).cpu().contiguous();
    if (!may_end) log_probabilities.select(1, end).fill_(-std::numeric_limits<double>::infinity());
    std::tie(values, tokens) = at::topk(log_probabilities, std::min(count, log_probabilities.size(1)), 1);
    values = values.to(at::kDouble).cpu().contiguous();
    tokens = tokens.cpu().contiguous();
  }

  void add_continuations(int64_t batch_row, const LiveHypothesis& live, std::vector<Continuation>& all) const {
    const int64_t count = values.size(1);
    for (int64_t i = batch_row * count; i < (batch_row + 1) * count; ++i)
      add(values.const_data_ptr<double>()[i], live, batch_row, tokens.const_data_ptr<int64_t>()[i], all);
  }
  void add_end(int64_t batch_row, const LiveHypothesis& live, int64_t end, std::vector<Continuation>& all) const {
    add(ends.const_data_ptr<double>()[batch_row], live, batch_row, end, all);
  }

 private:
  static void add(double log_probability, const LiveHypothesis& live, int64_t batch_row, int64_t token,
                  std::vector<Continuation>& all) {
    if (std::isfinite(log_probability)) all.push_back({live.sum + log_probability, log_probability, batch_row, token});
  }
};

class BeamSearch {
 public:
  BeamSearch(TranslationModel& model, const Sequences& source, const BeamOptions& options)
      : options_(options),
        special_(model.translation_shape().tokens),
        batch_rows_(model, source, options.lengths),
        live_(batch_rows_.sentences().size()),
        finished_(batch_rows_.sentences().size()) {}

  std::vector<std::vector<Hypothesis>> run() {
    std::vector<int64_t> last(live_.size(), special_.begin);
    while (!live_.empty()) {
      const NextTokens next(batch_rows_.next(last), special_.end, batch_rows_.may_end(), 2 * options_.beam);
      std::vector<std::vector<Continuation>> best;  // by sentence
      std::vector<int64_t> going_on;                // of them
      for (size_t first = 0, end = 0; first < live_.size(); first = end) {
        const int64_t sentence = batch_rows_.sentences()[first];
        while (end < live_.size() && batch_rows_.sentences()[end] == sentence) ++end;
        best.push_back(finish(sentence, continuations(first, end, next)));
        if (!best.back().empty()) going_on.push_back(static_cast<int64_t>(best.size()) - 1);
      }
      std::vector<LiveHypothesis> live;
      std::vector<int64_t> rows;
      for (const int64_t i : with_gaps_filled(std::move(going_on))) {
        for (const Continuation& each : best[static_cast<size_t>(i)]) {
          live.push_back(longer(live_[static_cast<size_t>(each.batch_row)], each));
          rows.push_back(each.batch_row);
        }
      }
      live_ = std::move(live);
      last.clear();
      for (const LiveHypothesis& each : live_) last.push_back(each.tokens.back());
      batch_rows_.go_on(rows);
    }
    for (auto& all : finished_) {
      std::ranges::stable_sort(all, std::greater(), &Hypothesis::score);
      if (static_cast<int64_t>(all.size()) > options_.n_best) all.resize(static_cast<size_t>(options_.n_best));
    }
    return std::move(finished_);
  }

 private:
  // The best 2·beam of the sentence whose batch rows are first … end − 1, the best first.
  std::vector<Continuation> continuations(size_t first, size_t end, const NextTokens& next) const {
    std::vector<Continuation> all;
    const bool must_end = batch_rows_.must_end(batch_rows_.sentences()[first]);
    for (size_t batch_row = first; batch_row < end; ++batch_row) {
      if (must_end)
        next.add_end(static_cast<int64_t>(batch_row), live_[batch_row], special_.end, all);
      else
        next.add_continuations(static_cast<int64_t>(batch_row), live_[batch_row], all);
    }
    std::ranges::sort(all, [](const Continuation& a, const Continuation& b) {
      return std::tie(b.sum, a.batch_row, a.token) < std::tie(a.sum, b.batch_row, b.token);
    });
    if (all.size() > 2 * static_cast<size_t>(options_.beam)) all.resize(2 * static_cast<size_t>(options_.beam));
    return all;
  }

  // Finishes the hypotheses that end, and returns those that continue.
  std::vector<Continuation> finish(int64_t sentence, const std::vector<Continuation>& best) {
    const auto beam = static_cast<size_t>(options_.beam);
    std::vector<Hypothesis>& done = finished_[static_cast<size_t>(sentence)];
    for (size_t i = 0; i < std::min(beam, best.size()); ++i)
      if (best[i].token == special_.end && done.size() < beam)
        done.push_back(finished(live_[static_cast<size_t>(best[i].batch_row)], best[i], options_.length_penalty));
    std::vector<Continuation> going_on;
    if (done.size() == beam || batch_rows_.must_end(sentence)) return going_on;
    for (const Continuation& each : best)
      if (each.token != special_.end && going_on.size() < beam) going_on.push_back(each);
    return going_on;
  }

  BeamOptions options_;
  TranslationTokens special_;
  DecodingRows batch_rows_;
  std::vector<LiveHypothesis> live_;               // by batch row
  std::vector<std::vector<Hypothesis>> finished_;  // by sentence
};

}  // namespace

void check_beam(const BeamOptions& o) {
  if (o.beam < 1) throw std::invalid_argument("the beam size must be at least 1");
  if (o.n_best < 1 || o.n_best > o.beam)
    throw std::invalid_argument("n-best must be from 1 to the beam size (" + std::to_string(o.beam) + "), got " +
                                std::to_string(o.n_best));
  if (!std::isfinite(o.length_penalty)) throw std::invalid_argument("the length penalty must be a finite number");
}

std::vector<std::vector<Hypothesis>> beam_search(TranslationModel& model, const Sequences& source,
                                                 const BeamOptions& options) {
  check_beam(options);
  const at::NoGradGuard no_grad;
  return BeamSearch(model, source, options).run();
}

}  // namespace cachet::models
