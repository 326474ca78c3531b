#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cachet::models {

/// How the next token is chosen from a distribution. The options apply in this order.
struct SamplingOptions {
  double repetition_penalty = 1.0;  // of earlier tokens: positive scores are divided by it, others times it
  double temperature = 1.0;         // scores are divided by it; 0: the greedy token alone
  int64_t top_k = 0;                // the k most probable tokens; 0: all
  double top_p = 1.0;               // the fewest most probable tokens whose sum is at least p, one at least
};

/// Throws std::invalid_argument that names the option: a penalty that is not above 0, a temperature below 0, top_k
/// below 0, top_p outside (0, 1].
void check_sampling(const SamplingOptions& options);

/// The probabilities of all tokens after these options, from scores, which may be logits or logarithms of
/// probabilities. `previous`: the earlier tokens. Equal scores are ordered by token, the lower first.
std::vector<double> sampling_distribution(std::span<const double> scores, std::span<const int64_t> previous,
                                          const SamplingOptions& options);
/// The token with the largest score after the penalty, the lowest of equal ones.
int64_t greedy_token(std::span<const double> scores, std::span<const int64_t> previous, double repetition_penalty);
/// The first token whose cumulated probability is above `uniform`, a number of [0, 1).
int64_t drawn_token(std::span<const double> probabilities, double uniform);

}  // namespace cachet::models
