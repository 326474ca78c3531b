#pragma once

#include <vector>

#include "cachet/models/language/decoding.h"

namespace cachet::models {

struct BeamOptions {
  int64_t beam = 5;             // number of unfinished hypotheses of a sentence
  double length_penalty = 1.0;  // α: a finished hypothesis has the score Σ log p / (number of tokens with the end)^α
  int64_t n_best = 1;           // number of finished hypotheses that are returned; at most the beam
  LengthLimits lengths{};
};

/// Throws std::invalid_argument, which names the option, if an option is out of range.
void check_beam(const BeamOptions& options);

/// Translates sentences by beam search, as in fairseq. Each step takes the best 2·beam continuations of all hypotheses
/// of a sentence. A continuation with the end token is finished if it is among the best `beam` continuations, and is
/// dropped otherwise. The best `beam` continuations without the end token stay in the search. The search of a sentence
/// ends when `beam` hypotheses are finished, although a longer hypothesis might still become better. At the maximum
/// length, all hypotheses end. Candidates of at::topk with equal scores are ordered by hypothesis, then by token (the
/// lower first). Returns the hypotheses of each sentence, the best first. Each sentence is searched independently.
std::vector<std::vector<Hypothesis>> beam_search(TranslationModel& model, const Sequences& source,
                                                 const BeamOptions& options);

}  // namespace cachet::models
