#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/loader.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/models/language/language_model.h"
#include "cachet/tasks/exports/rewritten_export.h"
#include "cachet/tasks/language_modelling/language_evaluation.h"
#include "cachet/tasks/task_kinds.h"

namespace cachet::tasks {

/// Options of evaluations on a text, which may differ from the options of training.
struct LanguageEvaluationOptions {
  int64_t batch_rows = 10;
  int64_t target_length = 150;  // number of tokens that are predicted at once
  models::SegmentOptions segments{};
  int64_t samples = 3;  // number of passages that the model continues for a run's page
  BitsOf bits_of = BitsOf::coded_text;
};

/// The tables [data] and [model] of a recipe of kind "language_modelling", without its training options.
struct LanguageModellingOptions {
  data::CorpusOptions corpus;
  data::LoaderOptions loader;
  data::SequenceSplit held_out = data::SequenceSplit::validation;  // split that is evaluated in training
  int64_t segments_per_step = 1;  // number of segments of a batch row through which a step's gradient passes
  LanguageEvaluationOptions evaluation;
  std::optional<int64_t> evaluation_limit{};  // number of tokens that are evaluated, instead of corpus.limit
  bool baseline = true;                       // whether evaluations report an n-gram baseline of the training text
  models::LanguageModelPlan model;            // default: a plan for the corpus's tokens
};

/// Reads [data], [model] and [task]. [task] has held_out ("validation" or "test"), segments_per_step, baseline, and the
/// table evaluation. The table evaluation has `lanes`, samples, bits_of, and the keys target_length, memory_length,
/// clamp_length, same_length and whole_past, whose defaults are the model's.
LanguageModellingOptions read_language_modelling_options(const config::View& root,
                                                         data::DataRoot data_root = data::DataRoot::required);

class LanguageModellingPlan : public TaskPlan, public TakesRewrittenModel {
 public:
  explicit LanguageModellingPlan(LanguageModellingOptions options) : options_(std::move(options)) {}

  const LanguageModellingOptions& options() const { return options_; }

  std::unique_ptr<TaskPlan> copy() const override { return std::make_unique<LanguageModellingPlan>(*this); }
  TaskProfile profile() const override;
  StepSize step_size(const train::TrainOptions& training) const override {
    return {training.batch_size * training.accumulate, "lanes"};
  }
  std::vector<DataPlace> data() const override;
  std::optional<std::string> absent_data() const override;
  DataLook look_at_data(const data::LookProgress& progress) const override;
  std::vector<std::string> settings_for_batches_of(int64_t batch) const override;
  std::optional<int64_t> data_limit() const override { return options_.corpus.limit; }
  /// Returns the number of tokens of `samples` samples.
  int64_t limit_for(int64_t samples) const override { return samples * options_.evaluation.target_length; }
  std::vector<std::string> current_rules() const override;
  void limit_evaluation(int64_t limit) override { options_.evaluation_limit = limit; }
  void reduce() override { options_.loader.workers = 0; }
  int64_t batches_ahead() const override { return options_.loader.workers * options_.loader.prefetch; }
  std::unique_ptr<Task> build(const train::TrainOptions& training, Splits splits) const override;
  void replace_model(std::function<std::shared_ptr<models::Model>()> make) override;

  // A run has a copy of its vocabulary. The tokens of the run therefore have the same meaning even if the vocabulary
  // file that the recipe names changes.
  SavedFiles files_to_keep() const override;
  std::vector<std::string> saved_file_settings(const std::filesystem::path& run) const override;

 private:
  LanguageModellingOptions options_;
};

/// Describes the metrics: perplexity (the deciding metric for words), loss, bits per byte (the deciding metric for
/// other tokens), bits per character, kUncoded, the text's bytes, and the baseline's perplexity.
std::vector<report::MetricDescription> language_metrics(data::CorpusTokens tokens, BitsOf bits_of);

}  // namespace cachet::tasks
