#pragma once

#include <map>
#include <memory>
#include <optional>

#include "cachet/data/text/sequences/given_sequence.h"
#include "cachet/data/text/sequences/sequence_loader.h"
#include "cachet/nn/base/not_replayable.h"
#include "cachet/tasks/analyses/shows_samples.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/sequence_classification/sequence_classification_plan.h"
#include "cachet/train/options.h"

namespace cachet::tasks {

/// Classification of token sequences, or of pairs of sequences: the tasks of the Long Range Arena (arXiv 2011.04006).
class SequenceClassification : public ClassificationTask, public ShowsSamples {
 public:
  /// Opens the data of the task and builds its model. With Splits::given, opens no data, because the recipe determines
  /// the classes. Throws io::Error if data cannot be read, std::invalid_argument if they do not fit the model.
  SequenceClassification(const SequenceClassificationPlan& plan, const train::TrainOptions& training,
                         Splits splits = Splits::both);

  std::map<std::string, data::DataDigest> data_digests() const override;
  std::map<std::string, std::string> data_fingerprints() const override;
  std::string sample_digest(int64_t index) override { return held_out_->sample_digest(index); }
  int64_t sample_at(int64_t place) override;
  std::optional<std::string> why_not_replayed() override { return nn::why_not_replayed(model()); }
  int64_t batches_per_epoch() const override { return training_loader_->batches(); }
  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override;
  int64_t evaluation_size() const override { return held_out_->size(); }
  EvaluatedSamples evaluated_samples() const override { return {held_out_->size(), held_out_->split_size()}; }
  int64_t evaluation_batches() const override { return held_out_loader_->batches(); }
  const std::vector<std::string>& class_names() const override { return held_out_->class_names(); }
  void classify_in_order(int64_t first, const UseBatch& use) override;
  void classify_all(int64_t first, const UseBatch& use) override;
  SampleForm sample_form() const override;
  std::unique_ptr<PreparedSample> prepare_given(const std::string& sample) override;
  /// Classifies the sequences one by one, because padding affects the result of an attention if
  /// model.attention.pattern_length = "batch".
  at::Tensor classify_given(const PreparedSamples& samples) override;
  std::vector<std::string> notes_on_given() const override;
  /// Runs the model on a sample. For a pair of sequences, returns the second sequence, which the model reads last.
  ShownSample run_over(int64_t index) override;
  std::optional<int64_t> class_of(int64_t index) const override { return held_out_->label(index); }

 protected:
  std::vector<report::Block> training_samples() const override;
  std::vector<report::Block> evaluation_samples(const ClassificationEvaluation& evaluation) const override;

 private:
  std::shared_ptr<const data::SequenceDataset> open(data::SequenceSplit split,
                                                    const data::SequenceDatasetOptions& options);
  /// Returns the logits (B, classes), float32 on the CPU, of a batch on the CPU.
  at::Tensor answers_of(data::SequenceBatch batch);
  void classify(data::BatchIterator<data::SequenceBatch> batches, const UseBatch& use);
  data::GivenSequence given(const std::string& sample, std::string& digest);

  SequenceClassificationOptions options_;
  train::TrainOptions training_options_;
  Splits splits_;
  std::shared_ptr<const data::SequenceDataset> training_, held_out_;
  std::optional<data::SequenceLoader> training_loader_;
  std::optional<data::SequenceLoader> held_out_loader_, by_length_loader_;  // by data order, and by length
  std::optional<data::GivenSequenceReader> given_reader_;                   // set by the first text of a user
  std::vector<int64_t> by_length_;  // samples in the order of their lengths, set by the first use
  std::shared_ptr<models::SequenceClassifier> model_;
};

}  // namespace cachet::tasks
