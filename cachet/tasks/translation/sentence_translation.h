#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/tasks/translation/translation_options.h"

namespace cachet::tasks {

/// A sentence of the source language with its end, and the number by which it draws.
struct SentenceToTranslate {
  std::vector<data::Token> tokens;
  int64_t number = 0;
};

/// Which sentences are translated at once: those of like lengths, the shortest first, as many as stay within max_tokens
/// when they are padded to the longest of them; a longer one alone.
std::vector<std::vector<int64_t>> batches_by_length(std::span<const SentenceToTranslate> sentences, int64_t max_tokens);

/// The hypotheses of the sentences of a batch, in its order, the best first. The model is in evaluation mode.
std::vector<std::vector<models::Hypothesis>> translate_batch(models::TranslationModel& model,
                                                             std::span<const SentenceToTranslate> sentences,
                                                             const std::vector<int64_t>& batch,
                                                             const TranslationOptions& options);

/// The same of all sentences, in their order, batch by batch. `progress` is called with the number of batches that are
/// done, and may throw to leave.
std::vector<std::vector<models::Hypothesis>> translate_sentences(
    models::TranslationModel& model, std::span<const SentenceToTranslate> sentences, const TranslationOptions& options,
    const std::function<void(int64_t done)>& progress = {});

/// The text of a hypothesis, in one line and in the form of the texts: a line end that the vocabulary may have is a
/// space.
std::string text_of(const models::Hypothesis& hypothesis, const data::SentenceEncoder& target);

}  // namespace cachet::tasks
