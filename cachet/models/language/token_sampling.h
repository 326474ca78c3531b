#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cachet::models {

/// The options by which the next token is chosen from a distribution, in the order in which they are applied.
struct SamplingOptions {
  double repetition_penalty = 1.0;  // for earlier tokens: divisor of positive scores, factor of other scores
  double temperature = 1.0;         // divisor of the scores; 0: only the greedy token
  int64_t top_k = 0;                // only the k most probable tokens; 0: all
  double top_p = 1.0;               // only the most probable tokens, as few as sum to at least top_p; at least one
};

/// Throws std::invalid_argument, which names the option, if the penalty is not above 0, the temperature or top_k
/// is below 0, or top_p is outside (0, 1].
void check_sampling(const SamplingOptions& options);

/// Returns the probabilities of all tokens under the sampling options. `scores` may be logits or logarithms of
/// probabilities. `previous`: the earlier tokens. Equal scores are ordered by token, the lower first.
std::vector<double> sampling_distribution(std::span<const double> scores, std::span<const int64_t> previous,
                                          const SamplingOptions& options);
/// Returns the token with the largest score after the penalty (the lowest token if scores are equal).
int64_t greedy_token(std::span<const double> scores, std::span<const int64_t> previous, double repetition_penalty);
/// Returns the first token whose cumulative probability is above `uniform`, a number in [0, 1).
int64_t drawn_token(std::span<const double> probabilities, double uniform);

}  // namespace cachet::models
