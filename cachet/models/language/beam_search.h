#pragma once

#include <vector>

#include "cachet/models/language/decoding.h"

namespace cachet::models {

struct BeamOptions {
  int64_t beam = 5;             // unfinished hypotheses of a sentence
  double length_penalty = 1.0;  // α: the score of a finished one is its sum of log p / (tokens with the end)^α
  int64_t n_best = 1;           // number of finished hypotheses that are returned; at most the beam
  LengthLimits lengths{};
};

/// Throws std::invalid_argument that names the option if it is out of range.
void check_beam(const BeamOptions& options);

/// Searches as fairseq does: each step takes the best 2·beam continuations of all hypotheses of a sentence. A
/// continuation that ends is finished if it is among the first `beam`, and otherwise dropped. The best `beam` of the
/// others continue. A sentence is done when `beam` hypotheses are finished, even if a longer one might become better,
/// or at its longest length, where all hypotheses end. Among the candidates that at::topk returns, equal scores are
/// ordered by hypothesis, then by token (the lower first).
/// Returns the hypotheses of each sentence, the best first. Sentences do not depend on each other.
std::vector<std::vector<Hypothesis>> beam_search(TranslationModel& model, const Sequences& source,
                                                 const BeamOptions& options);

}  // namespace cachet::models
