#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The k of top-k accuracy in `top5`: a prediction is correct if the true class is among the k most likely.
inline constexpr int64_t kLikeliest = 5;

/// A sample, its true class and the predicted class.
struct ClassifiedSample {
  int64_t index = 0;  // index in the data set
  int64_t label = 0, predicted = 0;
  double probability = 0;  // probability of the predicted class
};

/// The largest number of classes for which the confusion matrix is stored. For example, the confusion matrix of
/// ImageNet-22k would take 4 GB and be too large to read.
inline constexpr int64_t kMaxConfusedClasses = 2000;

/// The results of an evaluation.
struct ClassificationEvaluation {
  int64_t classes = 0;
  std::vector<int64_t> confusion;  // classes × classes, a row for each true class; empty above kMaxConfusedClasses
  std::vector<ClassifiedSample> right, wrong;  // right samples of different classes; the most confident wrong samples
  double loss = 0, top1 = 0, top1_stderr = 0;  // means; top1_stderr is the standard error of a proportion
  double top5 = 0;                             // set only if there are more than five classes
  int64_t samples = 0;                         // number of counted samples
  int64_t skipped = 0;  // number of samples that were skipped, which the other members do not count

  /// Returns the metrics, with train::kSkippedSamples if samples were skipped.
  train::Metrics metrics() const;
};

/// Returns the JSON text with which a run stores its evaluation. The confusion matrix is a list of its nonzero counts,
/// each as the three numbers true class, predicted class and count.
std::string to_json(const ClassificationEvaluation& evaluation);
/// Reads the JSON of to_json(). If `text` is not the JSON of an evaluation, returns std::nullopt.
std::optional<ClassificationEvaluation> evaluation_from_json(const std::string& text);
/// Whether the evaluation fits data of `classes` classes and `samples` samples: no index, label or count is too large.
bool fits(const ClassificationEvaluation& evaluation, int64_t classes, int64_t samples);

/// An evaluation sample that was skipped, because it could not be read (data.on_bad_image).
struct SkippedSample {
  int64_t index = 0;  // index in the data set
  int64_t label = 0;
  std::string problem{};
};

/// A batch of evaluation samples and the model's predictions.
struct ClassifiedBatch {
  std::vector<int64_t> indices;      // indices in the data set
  at::Tensor labels;                 // (B) int64
  at::Tensor logits;                 // (B, classes) float32, on the CPU
  int64_t place = 0;                 // position of the batch's first sample in the order of the batches
  std::vector<at::Tensor> inputs{};  // the model's inputs, in the order of deploy::inputs_of()
  /// The skipped samples of the batch, which the other members do not have. If there are any, the samples of the batch
  /// have consecutive indices.
  std::vector<SkippedSample> skipped{};
};

/// An evaluation sample with the values that the evaluation sums over all samples.
struct MeasuredSample {
  ClassifiedSample sample{};
  double loss = 0;          // −log p of the true class, in nats
  bool among_five = false;  // whether the true class is among the five most likely; false for at most five classes
  std::string problem{};    // of a skipped sample, which has no prediction and does not count
};

/// Returns the samples of a batch with their measured values, in the order of the batch, including skipped samples.
std::vector<MeasuredSample> measured(const ClassifiedBatch& batch);

/// Sums samples into an evaluation. The same samples in the same order give the same evaluation bit for bit.
class ClassificationTally {
 public:
  explicit ClassificationTally(int64_t classes);
  /// Adds a sample. Of a skipped sample, adds only that it was skipped.
  void add(const MeasuredSample& measured);
  /// Throws std::runtime_error, with `words` for the samples, if all samples were skipped.
  ClassificationEvaluation finish(const train::SampleWords& words) const;

 private:
  void keep(const ClassifiedSample& sample);

  ClassificationEvaluation sums_;
  std::vector<size_t> right_per_class_;
  double loss_ = 0;
  int64_t right_ = 0, among_five_ = 0;
  std::string first_problem_;  // of the first skipped sample
};

}  // namespace cachet::tasks
