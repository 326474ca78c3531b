#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/tasks/translation/translation_options.h"
#include "cachet/train/inference/replayed_inference.h"

namespace cachet::tasks {

/// A sentence of the source language with its end token, and the number that seeds the sampling of its translation.
struct SentenceToTranslate {
  std::vector<data::Token> tokens;
  int64_t number = 0;
};

/// Groups sentences of similar lengths into batches, the shortest first. A batch has at most max_tokens tokens,
/// including the padding to its longest sentence. A sentence with more than max_tokens tokens is a batch of its own.
std::vector<std::vector<int64_t>> batches_by_length(std::span<const SentenceToTranslate> sentences, int64_t max_tokens);

/// Returns each sentence's hypotheses, best first, in the order of `batch`. The model must be in evaluation mode. If
/// `inference` is given and replays passes, beam search is models::fixed_beam_search().
std::vector<std::vector<models::Hypothesis>> translate_batch(models::TranslationModel& model,
                                                             std::span<const SentenceToTranslate> sentences,
                                                             const std::vector<int64_t>& batch,
                                                             const TranslationOptions& options,
                                                             train::ReplayedInference* inference = nullptr);

/// Translates all sentences, batch by batch. The translations are in the order of `sentences`. Calls `progress` with
/// the number of finished batches; `progress` may throw to stop.
std::vector<std::vector<models::Hypothesis>> translate_sentences(models::TranslationModel& model,
                                                                 std::span<const SentenceToTranslate> sentences,
                                                                 const TranslationOptions& options,
                                                                 const std::function<void(int64_t done)>& progress = {},
                                                                 train::ReplayedInference* inference = nullptr);

/// Returns the text of a hypothesis as one line, in the Unicode normalization form of the texts. If a token of the
/// vocabulary contains a line end, the line end becomes a space.
std::string text_of(const models::Hypothesis& hypothesis, const data::SentenceEncoder& target);

}  // namespace cachet::tasks
