#pragma once

#include <vector>

#include "cachet/models/language/decoding.h"

namespace cachet::models {

struct BeamOptions {
  int64_t beam = 5;             // hypotheses of a sentence that go on
  double length_penalty = 1.0;  // α: finished ones are compared by their sum of log p / (tokens with the end)^α
  int64_t n_best = 1;           // of the finished ones that are returned; at most the beam
  LengthLimits lengths{};
};

/// Throws std::invalid_argument that names the option.
void check_beam(const BeamOptions& options);

/// Beam search as fairseq has it: at each step the best 2·beam continuations of all hypotheses of a sentence are looked
/// at. One that ends is finished if it is among the first `beam` of them, and dropped else; the best `beam` others go
/// on. A sentence is done when `beam` are finished, though a longer one might still become better, or at its longest
/// length, where all end. Equal scores: the hypothesis before, then the lower token, among those that at::topk gives.
/// Returns the hypotheses of each sentence, the best first. Sentences do not depend on each other.
std::vector<std::vector<Hypothesis>> beam_search(TranslationModel& model, const Sequences& source,
                                                 const BeamOptions& options);

}  // namespace cachet::models
