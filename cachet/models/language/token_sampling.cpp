#include "cachet/models/language/token_sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace cachet::models {
namespace {

std::vector<double> penalized(std::span<const double> scores, std::span<const int64_t> previous, double penalty) {
  std::vector<double> changed(scores.begin(), scores.end());
  if (penalty == 1.0) return changed;
  for (const int64_t token : previous) {
    const auto place = static_cast<size_t>(token);
    if (place >= changed.size())
      throw std::invalid_argument("the scores have no entry for the previous token " + std::to_string(token));
    changed[place] = scores[place] > 0 ? scores[place] / penalty : scores[place] * penalty;  // once each
  }
  return changed;
}

// e^(score − largest) of the remaining tokens, 0 of the others; then their sum is 1.
void softmax_of(const std::vector<double>& scores, const std::vector<size_t>& kept, std::vector<double>& out) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const size_t token : kept) largest = std::max(largest, scores[token]);
  std::ranges::fill(out, 0.0);
  for (const size_t token : kept) sum += out[token] = std::exp(scores[token] - largest);
  for (const size_t token : kept) out[token] /= sum;
}

}  // namespace

void check_sampling(const SamplingOptions& o) {
  if (!(o.repetition_penalty > 0)) throw std::invalid_argument("the repetition penalty must be above 0");
  if (!(o.temperature >= 0)) throw std::invalid_argument("the temperature must be 0 or above");
  if (o.top_k < 0) throw std::invalid_argument("top-k must be 0 or above");
  if (!(o.top_p > 0 && o.top_p <= 1)) throw std::invalid_argument("top-p must be above 0 and at most 1");
}

int64_t greedy_token(std::span<const double> scores, std::span<const int64_t> previous, double repetition_penalty) {
  const std::vector<double> changed = penalized(scores, previous, repetition_penalty);
  return std::ranges::max_element(changed) - changed.begin();
}

std::vector<double> sampling_distribution(std::span<const double> scores, std::span<const int64_t> previous,
                                          const SamplingOptions& o) {
  check_sampling(o);
  std::vector<double> probabilities(scores.size(), 0.0);
  if (o.temperature == 0) {
    probabilities[static_cast<size_t>(greedy_token(scores, previous, o.repetition_penalty))] = 1.0;
    return probabilities;
  }
  std::vector<double> changed = penalized(scores, previous, o.repetition_penalty);
  for (double& score : changed) score /= o.temperature;
  std::vector<size_t> kept(changed.size());
  std::iota(kept.begin(), kept.end(), size_t{0});
  const bool cuts_k = o.top_k > 0 && static_cast<size_t>(o.top_k) < kept.size();
  if (cuts_k || o.top_p < 1)
    std::ranges::stable_sort(kept, [&](size_t left, size_t right) { return changed[left] > changed[right]; });
  if (cuts_k) kept.resize(static_cast<size_t>(o.top_k));
  softmax_of(changed, kept, probabilities);
  if (o.top_p < 1) {
    double sum = 0;
    size_t count = 0;
    while (count < kept.size() && sum < o.top_p) sum += probabilities[kept[count++]];
    kept.resize(std::max<size_t>(count, 1));
    softmax_of(changed, kept, probabilities);
  }
  return probabilities;
}

int64_t drawn_token(std::span<const double> probabilities, double uniform) {
  double sum = 0;
  int64_t last = 0;
  for (size_t token = 0; token < probabilities.size(); ++token) {
    if (probabilities[token] > 0) last = static_cast<int64_t>(token);
    sum += probabilities[token];
    if (sum > uniform) return static_cast<int64_t>(token);
  }
  return last;  // roundings leave the sum below
}

}  // namespace cachet::models
