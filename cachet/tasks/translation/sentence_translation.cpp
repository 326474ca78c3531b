#include "cachet/tasks/translation/sentence_translation.h"

#include <algorithm>
#include <numeric>

#include "cachet/data/text/sequences/sequence_loader.h"
#include "cachet/models/language/fixed_beam_search.h"
#include "cachet/models/language/sampled_decoding.h"
#include "cachet/train/machine/device.h"

namespace cachet::tasks {
namespace {

models::Sequences padded_batch(models::TranslationModel& model, std::span<const SentenceToTranslate> sentences,
                               const std::vector<int64_t>& batch) {
  std::vector<data::TokenView> tokens;
  for (const int64_t i : batch) tokens.emplace_back(sentences[static_cast<size_t>(i)].tokens);
  data::PaddedTokens padded = data::pad(tokens, {});
  train::move_to(train::device_of(model), {&padded.ids, &padded.padding});
  return {padded.ids, padded.padding};
}

// n_best draws of each sentence, the best first.
std::vector<std::vector<models::Hypothesis>> draws(models::TranslationModel& model, const models::Sequences& source,
                                                   std::span<const int64_t> numbers,
                                                   const TranslationOptions& options) {
  std::vector<std::vector<models::Hypothesis>> all(numbers.size());
  std::vector<int64_t> own(numbers.begin(), numbers.end());
  for (int64_t draw = 0; draw < options.beam.n_best; ++draw) {
    for (size_t i = 0; i < own.size(); ++i) own[i] = numbers[i] * options.beam.n_best + draw;
    auto drawn = models::sampled_decoding(model, source, own, *options.sampling, options.seed, options.beam.lengths,
                                          options.beam.length_penalty);
    for (size_t i = 0; i < own.size(); ++i) all[i].push_back(std::move(drawn[i]));
  }
  for (auto& hypotheses : all) std::ranges::stable_sort(hypotheses, std::greater(), &models::Hypothesis::score);
  return all;
}

}  // namespace

std::vector<std::vector<int64_t>> batches_by_length(std::span<const SentenceToTranslate> sentences,
                                                    int64_t max_tokens) {
  std::vector<int64_t> order(sentences.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto length = [&](int64_t i) { return static_cast<int64_t>(sentences[static_cast<size_t>(i)].tokens.size()); };
  std::ranges::stable_sort(order, {}, length);
  std::vector<std::vector<int64_t>> batches;
  for (const int64_t i : order) {
    const auto count = batches.empty() ? 0 : static_cast<int64_t>(batches.back().size());
    if (count == 0 || (count + 1) * length(i) > max_tokens) batches.emplace_back();
    batches.back().push_back(i);
  }
  return batches;
}

std::vector<std::vector<models::Hypothesis>> translate_batch(models::TranslationModel& model,
                                                             std::span<const SentenceToTranslate> sentences,
                                                             const std::vector<int64_t>& batch,
                                                             const TranslationOptions& options,
                                                             train::ReplayedInference* inference) {
  const models::Sequences source = padded_batch(model, sentences, batch);
  if (!options.sampling) {
    auto* decoder =
        inference != nullptr && inference->replays() ? dynamic_cast<models::FixedDecoder*>(&model) : nullptr;
    if (decoder == nullptr) return models::beam_search(model, source, options.beam);
    return models::fixed_beam_search(
        model, *decoder, source, options.beam,
        [&](const auto& key, const auto& tensors, const auto& pass) { return inference->run(key, tensors, pass); });
  }
  std::vector<int64_t> numbers;
  for (const int64_t i : batch) numbers.push_back(sentences[static_cast<size_t>(i)].number);
  return draws(model, source, numbers, options);
}

std::vector<std::vector<models::Hypothesis>> translate_sentences(models::TranslationModel& model,
                                                                 std::span<const SentenceToTranslate> sentences,
                                                                 const TranslationOptions& options,
                                                                 const std::function<void(int64_t done)>& progress,
                                                                 train::ReplayedInference* inference) {
  std::vector<std::vector<models::Hypothesis>> all(sentences.size());
  int64_t done = 0;
  for (const std::vector<int64_t>& batch : batches_by_length(sentences, options.max_tokens)) {
    auto found = translate_batch(model, sentences, batch, options, inference);
    for (size_t i = 0; i < batch.size(); ++i) all[static_cast<size_t>(batch[i])] = std::move(found[i]);
    if (progress) progress(++done);
  }
  return all;
}

std::string text_of(const models::Hypothesis& hypothesis, const data::SentenceEncoder& target) {
  std::vector<data::Token> tokens;
  for (const int64_t token : hypothesis.tokens)
    if (token != target.marks.end) tokens.push_back(static_cast<data::Token>(token));
  // Pieces that are each in a form may stand next to each other and be composed.
  std::string text = normalized(target.texts->decode(tokens), target.texts->vocabulary().normalization);
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace cachet::tasks
