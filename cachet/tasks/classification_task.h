#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/analysis/model_summary.h"
#include "cachet/models/registry.h"
#include "cachet/report/classification_page.h"
#include "cachet/tasks/classification_evaluation.h"
#include "cachet/train/task.h"

namespace cachet::tasks {

/// Which data a task opens.
enum class Splits {
  both,
  test,     // evaluation alone; statistics of the training data are then only read where the recipe asks for them
  made_up,  // none: noise in their place, two batches to train with and one to evaluate
  none,     // for samples that are given one by one; nothing is opened but for statistics that the recipe asks for
};

/// What a sample is that somebody gives: the name of an image file, or a text itself.
enum class GivenKind { image_file, text };

/// Samples of some kind and their classes: cross-entropy, top-1 and top-5 over the test split.
///
/// `observe()` gives `share/<layer>` (σ(λ) of each head) and `un/<layer>` (training steps, those on window statistics,
/// those filtered): the report draws them.
class ClassificationTask : public train::Task {
 public:
  virtual models::Classifier& classifier() = 0;
  virtual int64_t test_size() const = 0;
  virtual const std::vector<std::string>& class_names() const = 0;

  /// Runs the model over batches of test samples, in order, from the one that holds sample `first` on. The caller has
  /// set evaluation mode.
  virtual void classify_test(int64_t first, const SeenClassifiedBatch& seen) = 0;
  /// The same for all of them, in the order that takes the least time.
  virtual void classify_all(const SeenClassifiedBatch& seen) { classify_test(0, seen); }
  virtual int64_t test_batches() const = 0;

  virtual GivenKind given_kind() const = 0;
  /// Log-probabilities (classes) of a sample that somebody gives, prepared as a test sample would be. The caller has
  /// set evaluation mode. Throws io::Error that says what is wrong with it; where it is a text, not with which.
  virtual at::Tensor classify_given(const std::string& sample) = 0;
  /// What was done by rule to those that were given so far, lines for the user.
  virtual std::vector<std::string> notes_on_given() const { return {}; }

  torch::nn::Module& model() override { return classifier(); }
  /// Class tokens, λ of cached attention (`share`) and position tables.
  std::vector<std::string> without_decay() const override {
    return {"cls_token", "dist_token", "share", "pos_embed*", "relative_position_bias_table", "position_table"};
  }
  std::vector<std::string> heads() const override { return {"head", "head_dist"}; }
  train::Metrics evaluate(const train::EvaluationProgress& progress) override;
  train::Objective objective() const override { return {"top1", /*higher_is_better=*/true}; }
  std::vector<train::Series> observe() override;
  void write_report(const train::RunFolder& folder, const train::Status& status) override;

 protected:
  explicit ClassificationTask(models::ClassifierPlan plan) : plan_(std::move(plan)) {}

  /// Adds what a kind of samples has to show of the last evaluation.
  virtual void show_samples(const ClassificationEvaluation& evaluation, report::ClassificationRun& run) const = 0;

 private:
  models::ClassifierPlan plan_;
  std::optional<analysis::ModelSummary> summary_;
  ClassificationEvaluation evaluation_;
};

/// What a training step makes of logits (B, classes) and of targets (B, classes) that sum up to one: the sum of the
/// cross-entropies, the model's penalties beside it, and how often both prefer the same class. `samples` and `tokens`
/// of the result are the caller's to fill in.
train::StepResult classification_step(models::Classifier& model, const at::Tensor& logits, const at::Tensor& targets);

}  // namespace cachet::tasks
