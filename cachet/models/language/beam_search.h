#pragma once

#include <vector>

#include "cachet/models/language/decoding.h"

namespace cachet::models {

struct BeamOptions {
  int64_t beam = 5;             // hypotheses of a sentence that continue
  double length_penalty = 1.0;  // α: finished ones are compared by their sum of log p / (tokens with the end)^α
  int64_t n_best = 1;           // of the finished ones that are returned; at most the beam
  LengthLimits lengths{};
};

/// Throws std::invalid_argument that names the option.
void check_beam(const BeamOptions& options);

/// Beam search as fairseq has it: each step takes the best 2·beam continuations of all hypotheses of a sentence. A
/// continuation that ends is finished if it is among the first `beam`, and is otherwise dropped; the best `beam` others
/// continue. A sentence is done when `beam` are finished, even if a longer one might become better, or at its
/// longest length, where all end. Equal scores: the hypothesis before, then the lower token, among those that
/// at::topk gives.
/// Returns the hypotheses of each sentence, the best first. Sentences do not depend on each other.
std::vector<std::vector<Hypothesis>> beam_search(TranslationModel& model, const Sequences& source,
                                                 const BeamOptions& options);

}  // namespace cachet::models
