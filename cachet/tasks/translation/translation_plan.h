#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/text/parallel/parallel_loader.h"
#include "cachet/metrics/bleu.h"
#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/tasks/exports/rewritten_export.h"
#include "cachet/tasks/task_kinds.h"
#include "cachet/tasks/translation/translation_options.h"

namespace cachet::tasks {

/// The sentences that evaluations translate, and the options of the translation.
struct TranslationEvaluationOptions {
  bool translate = true;  // whether to translate, or compute only the loss
  /// The limits of fairseq's recipes in evaluation: at most 1.2 target tokens for each source token, plus 10.
  TranslationOptions how{.beam = {.lengths = {.per_token = 1.2, .added = 10}}};
  int64_t limit = 0;  // number of pairs, from the first, that evaluations in training translate; 0: all
  metrics::BleuOptions bleu{};
};

/// The tables [data] and [model] of a recipe of kind "translation", without its training options.
struct TranslationTaskOptions {
  data::ParallelOptions parallel;
  data::ParallelLoaderOptions loader;
  data::SequenceSplit held_out = data::SequenceSplit::validation;  // split that is evaluated in training
  models::LabelSmoothing smoothing{.amount = 0.1};
  TranslationEvaluationOptions evaluation;
  std::optional<int64_t> evaluation_limit{};  // number of pairs that are evaluated, instead of parallel.limit
  models::TranslationModelPlan model;         // default: a plan for the data's vocabularies
  int64_t synthetic_length = 24;              // tokens in a sentence of synthetic data
};

/// Reads [data], [model] and [task]. [task] has held_out ("validation" or "test"), label_smoothing, smoothing_share
/// ("others" or "all"), and the table evaluation: translate, beam, length_penalty, min_length, max_length_a,
/// max_length_b, limit, max_tokens, and bleu_tokens ("13a" or "none").
TranslationTaskOptions read_translation_options(const config::View& root,
                                                data::DataRoot data_root = data::DataRoot::required);

class TranslationPlan : public TaskPlan, public TakesRewrittenModel {
 public:
  explicit TranslationPlan(TranslationTaskOptions options) : options_(std::move(options)) {}

  const TranslationTaskOptions& options() const { return options_; }

  std::unique_ptr<TaskPlan> copy() const override { return std::make_unique<TranslationPlan>(*this); }
  TaskProfile profile() const override;
  StepSize step_size(const train::TrainOptions& training) const override {
    return {options_.loader.budget.max_tokens * training.accumulate, "tokens"};
  }
  std::vector<DataPlace> data() const override;
  std::optional<std::string> absent_data() const override;
  DataLook look_at_data(const data::LookProgress& progress) const override;
  /// Returns settings with which an evaluation computes only losses, without translations.
  std::vector<std::string> settings_for_batches_of(int64_t batch) const override;
  std::optional<int64_t> data_limit() const override { return options_.parallel.limit; }
  int64_t training_evaluation_limit() const override { return options_.evaluation.limit; }
  void limit_evaluation(int64_t limit) override;
  void reduce() override { options_.loader.loader.workers = 0; }
  int64_t batches_ahead() const override { return options_.loader.loader.workers * options_.loader.loader.prefetch; }
  BatchCount batch_count(const train::TrainOptions& training) const override;
  void enlarge_samples() override { options_.synthetic_length = longest_sentence(); }
  std::unique_ptr<Task> build(const train::TrainOptions& training, Splits splits) const override;
  void replace_model(std::function<std::shared_ptr<models::Model>()> make) override;

  // The folder of a run has copies of the run's vocabularies. The tokens of the run therefore have the same meaning
  // even if the vocabulary files that the recipe names change.
  SavedFiles files_to_keep() const override;
  std::vector<std::string> saved_file_settings(const std::filesystem::path& run) const override;

 private:
  /// Returns the number of tokens of the longest sentence of a batch, including its end token and the padding.
  int64_t longest_sentence() const;

  TranslationTaskOptions options_;
};

/// Describes the metrics: BLEU (the deciding metric if there are translations), chrF, the loss of smoothed targets, the
/// loss of unsmoothed targets (otherwise the deciding metric), the perplexity from this loss, and the length of
/// translations. The unit tokens/s refers to target tokens, as in fairseq.
std::vector<report::MetricDescription> translation_metrics(bool translates);

}  // namespace cachet::tasks
