#pragma once

#include <memory>

#include "cachet/data/text/sequences/sequence_loader.h"
#include "cachet/data/text/sequences/sequence_options.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/tasks/classification/classifies_data.h"
#include "cachet/tasks/exports/exported_model.h"
#include "cachet/tasks/task_kinds.h"

namespace cachet::tasks {

/// The tables [data] and [model] of a recipe of kind "sequence_classification", without its training options.
struct SequenceClassificationOptions {
  data::SequenceDatasetOptions dataset;
  data::SequenceLoaderOptions loader;
  data::SequenceSplit held_out = data::SequenceSplit::validation;  // split that is evaluated in training
  double label_smoothing = 0;
  std::optional<int64_t> evaluation_limit{};  // number of sequences that are evaluated, instead of dataset.limit
  models::SequenceClassifierPlan model;       // default: a plan for the data's tokens and classes
};

/// Reads [data], [model], and held_out ("validation" or "test") and label_smoothing of [task].
SequenceClassificationOptions read_sequence_classification_options(const config::View& root);

class SequenceClassificationPlan : public TaskPlan, public ClassifiesData, public TakesExportedModel {
 public:
  explicit SequenceClassificationPlan(SequenceClassificationOptions options) : options_(std::move(options)) {}

  const SequenceClassificationOptions& options() const { return options_; }

  std::unique_ptr<TaskPlan> copy() const override { return std::make_unique<SequenceClassificationPlan>(*this); }
  TaskProfile profile() const override;
  std::vector<DataPlace> data() const override;
  std::optional<std::string> absent_data() const override;
  DataLook look_at_data(const data::LookProgress& progress) const override;
  /// Returns settings for batches in the order of the data instead of the order by length, so that each batch has
  /// sequences of all lengths.
  std::vector<std::string> settings_for_batches_of(int64_t batch) const override {
    return {"train.batch_size=" + std::to_string(batch), "data.bucket_batches=0"};
  }
  std::optional<int64_t> data_limit() const override { return options_.dataset.limit; }
  void limit_evaluation(int64_t limit) override { options_.evaluation_limit = limit; }
  std::optional<uint64_t> seed_of_samples() const override { return options_.dataset.subset_seed; }
  void reduce() override { options_.loader.loader.workers = 0; }
  int64_t batches_ahead() const override { return options_.loader.loader.workers * options_.loader.loader.prefetch; }
  std::unique_ptr<Task> build(const train::TrainOptions& training, Splits splits) const override;

  void replace_model(const runtime::ExportManifest& manifest, MakeSession make) override;
  runtime::ExportManifest with_limits(const runtime::ExportManifest& manifest) const override;

  // A run stores its class names, and a copy (subwords.model) of the subword model of its texts. Because of the copy,
  // the run can be moved to another machine. The meaning of the run's tokens does not change if the subword model that
  // the recipe names changes.
  SavedFiles files_to_keep() const override;
  std::vector<std::string> class_name_settings() const override;
  int64_t classes_of_model() const override { return options_.model.classes; }
  std::optional<int64_t> classes_of_data() const override;
  std::vector<std::string> saved_file_settings(const std::filesystem::path& run) const override;

 private:
  bool has_subwords() const { return options_.dataset.text.tokens == data::TokenKind::subwords; }

  SequenceClassificationOptions options_;
};

}  // namespace cachet::tasks
