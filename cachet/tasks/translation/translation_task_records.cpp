#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "cachet/tasks/samples/read_record.h"
#include "cachet/tasks/translation/translation_task.h"

namespace cachet::tasks {

int64_t TranslationTask::evaluation_records() const {
  return evaluation_size() + static_cast<int64_t>(sources_to_translate().size());
}

std::string TranslationTask::record_digest(int64_t index) {
  if (pairs_of_records_.empty()) {
    for (int64_t batch = 0; batch < held_out_loader_->batches(); ++batch)
      std::ranges::copy(held_out_loader_->place(/*epoch=*/0, batch).indices(), std::back_inserter(pairs_of_records_));
    const std::vector<SentenceToTranslate> sources = sources_to_translate();
    for (const std::vector<int64_t>& batch : batches_by_length(sources, options_.evaluation.how.max_tokens))
      for (const int64_t source : batch) pairs_of_records_.push_back(sources[static_cast<size_t>(source)].number);
  }
  return held_out_->sample_digest(pairs_of_records_.at(static_cast<size_t>(index)));
}

void TranslationTask::record_evaluation(int64_t first, const SeenRecord& seen) {
  const at::NoGradGuard no_grad;
  const int64_t pairs = evaluation_size();
  if (first < pairs) {
    measure_pairs(first, [&](int64_t place, const std::vector<PairLosses>& losses) {
      for (const PairLosses& each : losses) {
        if (place >= first) seen(losses_record(each, place));
        ++place;
      }
    });
  }
  const std::vector<SentenceToTranslate> sources = sources_to_translate();
  int64_t place = pairs;
  for (const std::vector<int64_t>& batch : batches_by_length(sources, options_.evaluation.how.max_tokens)) {
    const int64_t end = place + static_cast<int64_t>(batch.size());
    if (end > first) {
      const auto found = translate_batch(*model_, sources, batch, options_.evaluation.how, &inference());
      for (size_t i = 0; i < batch.size(); ++i) {
        const SentenceToTranslate& source = sources[static_cast<size_t>(batch[i])];
        const models::Hypothesis* written = found[i].empty() ? nullptr : &found[i].front();
        const int64_t index = place + static_cast<int64_t>(i);
        if (index < first) continue;
        seen(translation_record({source.number, written == nullptr ? std::vector<int64_t>() : written->tokens}, index,
                                sentence_of(source, written).hypothesis));
      }
    }
    place = end;
  }
}

// Without where translations look, which the model would have to be asked.
train::Metrics TranslationTask::evaluate_records(const NextRecord& next) {
  const int64_t pairs = evaluation_size(), all = evaluation_records();
  const auto read = [&](int64_t index) {
    if (auto record = next()) return *std::move(record);
    throw std::runtime_error("the evaluation is incomplete: there are " + std::to_string(index) + " of " +
                             std::to_string(all) + " records");
  };
  TranslationTally tally;
  SamplesOfRecords measured(pairs), translated(all - pairs);
  for (int64_t index = 0; index < pairs; ++index) {
    const PairLosses losses = losses_from_record(read(index), index, pairs);
    measured.add(losses.pair);
    tally.add(losses);
  }
  const std::vector<SentenceToTranslate> sources = sources_to_translate();
  std::vector<TranslatedSentence> sentences(sources.size());
  for (int64_t index = pairs; index < all; ++index) {
    WrittenTranslation written =
        translation_from_record(read(index), index, all - pairs, options_.model.text.target_vocabulary);
    translated.add(written.pair);
    const auto number = static_cast<size_t>(written.pair);
    const models::Hypothesis hypothesis{std::move(written.tokens), {}, 0};
    sentences[number] = sentence_of(sources[number], hypothesis.tokens.empty() ? nullptr : &hypothesis);
  }
  evaluation_ = {};
  tally.finish(evaluation_);
  if (!sources.empty()) score_translations(std::move(sentences), options_.evaluation.bleu, evaluation_);
  return evaluation_.metrics(options_.evaluation.translate);
}

}  // namespace cachet::tasks
