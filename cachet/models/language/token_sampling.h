#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cachet::models {

/// How the next token is chosen from a distribution. The options are applied in this order.
struct SamplingOptions {
  double repetition_penalty = 1.0;  // for earlier tokens: divides positive scores, multiplies others
  double temperature = 1.0;         // divisor of the scores; 0: only the greedy token
  int64_t top_k = 0;                // only the k most probable tokens; 0: all
  double top_p = 1.0;               // the fewest most probable tokens whose sum is at least top_p; at least one
};

/// Throws std::invalid_argument that names the option if the penalty is not above 0, the temperature is below 0, top_k
/// is below 0, or top_p is outside (0, 1].
void check_sampling(const SamplingOptions& options);

/// Returns the probabilities of all tokens after these options. `scores` may be logits or logarithms of probabilities.
/// `previous`: the earlier tokens. Equal scores are ordered by token, the lower first.
std::vector<double> sampling_distribution(std::span<const double> scores, std::span<const int64_t> previous,
                                          const SamplingOptions& options);
/// Returns the token with the largest score after the penalty, of equal ones the lowest.
int64_t greedy_token(std::span<const double> scores, std::span<const int64_t> previous, double repetition_penalty);
/// Returns the first token whose cumulated probability is above `uniform`, a number in [0, 1).
int64_t drawn_token(std::span<const double> probabilities, double uniform);

}  // namespace cachet::models
