#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/models/model.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/classification/classification_evaluation.h"
#include "cachet/tasks/classification/prediction.h"
#include "cachet/tasks/task.h"

namespace cachet::tasks {

/// A function that is called with each batch of an evaluation.
using UseBatch = std::function<void(const ClassifiedBatch& batch)>;

/// Classification of samples of any kind: cross-entropy, top-1 and top-5 over the evaluation split.
class ClassificationTask : public Task, public Predictor, public AnswersEvaluationSamples, public EvaluatesRecords {
 public:
  virtual const std::vector<std::string>& class_names() const = 0;
  /// Whether numbers serve as class names, because the names of the model's classes are not known.
  virtual bool lacks_class_names() const { return false; }

  /// Runs the model on batches of evaluation samples in their order, beginning with the batch of sample `first`. Before
  /// the call, the caller must set the model to evaluation mode.
  virtual void classify_in_order(int64_t first, const UseBatch& use) = 0;
  /// Runs the model on batches in the fastest order of the samples, which evaluate() also uses. Begins with the batch
  /// of the sample that has the position `first` in evaluate()'s order.
  virtual void classify_all(int64_t first, const UseBatch& use) { classify_in_order(first, use); }
  /// Returns the index of the sample at a position in the order of classify_all().
  virtual int64_t sample_at(int64_t place) { return place; }
  virtual int64_t evaluation_batches() const = 0;

  /// Returns the logits (N, classes), float32 on the CPU, of samples that prepare_given() has prepared like evaluation
  /// samples. Before the call, the caller must set the model to evaluation mode.
  virtual at::Tensor classify_given(const PreparedSamples& samples) = 0;

  /// Describes how an image becomes the input, for programs that have only the export. Returns an empty value if the
  /// samples are not images.
  virtual std::optional<runtime::ImagePreparation> image_preparation() const { return std::nullopt; }

  /// Computes the model's predictions for the evaluation samples in their order, beginning with sample `first`.
  void predict(int64_t first, const AnswerOptions& options,
               const std::function<void(const Prediction& prediction)>& use);
  std::vector<Prediction> predict_given(const PreparedSamples& samples, const AnswerOptions& options);

  torch::nn::Module& model() override { return *model_; }
  std::vector<std::string> head_modules() const override { return {"head", "head_dist"}; }
  train::Metrics evaluate(const train::EvaluationProgress& progress) override;
  std::string evaluation_details() const override { return to_json(evaluation_); }
  void restore_evaluation(const std::string& details) override;

  std::vector<Record> answer_given(const PreparedSamples& samples, const AnswerOptions& options) override;
  void answer_evaluation(int64_t first, const AnswerOptions& options, const SeenRecord& seen) override;
  int64_t evaluation_records() const override { return evaluation_size(); }
  std::string record_digest(int64_t index) override { return sample_digest(sample_at(index)); }
  void record_evaluation(int64_t first, const SeenRecord& seen) override;
  train::Metrics evaluate_records(const NextRecord& next) override;

 protected:
  using Task::Task;

  /// Sets the model, which the derived class has built.
  void set_model(std::shared_ptr<models::Model> model) { model_ = std::move(model); }

  /// Returns sections with the confusion matrix and then the blocks of evaluation_samples().
  std::vector<report::Section> evaluation_sections() const final;
  /// Returns the blocks of the run's page that show samples of the last evaluation.
  virtual std::vector<report::Block> evaluation_samples(const ClassificationEvaluation& evaluation) const = 0;

 private:
  std::shared_ptr<models::Model> model_;
  ClassificationEvaluation evaluation_;
};

/// Describes the metrics: loss, top-1 and, for more than five classes, top-5. The deciding metric is top-1.
std::vector<report::MetricDescription> classification_metrics();

/// Computes the result of a training step from logits (B, classes) and targets (B, classes), whose rows sum to one. The
/// result has the sum of the cross-entropies, the model's penalties as a separate value, and the number of samples
/// whose logits and targets prefer the same class. The caller sets `tokens`.
train::ForwardResult classification_step(torch::nn::Module& model, const at::Tensor& logits, const at::Tensor& targets);
/// Describes a micro-batch of classification_step(). `tensors` are the inputs of its forward pass. The caller sets
/// `tokens`.
train::PreparedBatch prepared_classification(std::vector<at::Tensor*> tensors, const at::Tensor& targets);

}  // namespace cachet::tasks
