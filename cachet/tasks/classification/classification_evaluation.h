#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// A class counts in top5 where it is among so many that are the likeliest.
inline constexpr int64_t kLikeliest = 5;

/// A sample, what it is and what the model took it for.
struct ClassifiedSample {
  int64_t index = 0;  // in the data set
  int64_t label = 0, predicted = 0;
  double probability = 0;  // of the predicted class
};

/// The confusion matrix of more classes is not stored: that of ImageNet-22k would take 4 GB, and nobody could read it.
inline constexpr int64_t kMaxConfusedClasses = 2000;

/// What an evaluation found.
struct ClassificationEvaluation {
  int64_t classes = 0;
  std::vector<int64_t> confusion;  // classes × classes, a row for each true class; empty above kMaxConfusedClasses
  std::vector<ClassifiedSample> right, wrong;  // a few right ones of different classes; the most confident wrong ones
  double loss = 0, top1 = 0, top1_stderr = 0;  // means; the standard error is that of a proportion
  double top5 = 0;                             // only where there are more than five classes
  int64_t samples = 0;

  train::Metrics metrics() const;
};

/// As a run keeps it. The confusion matrix is a list of the counts that are not zero: true class, predicted class,
/// count.
std::string to_json(const ClassificationEvaluation& evaluation);
/// Nothing for other texts.
std::optional<ClassificationEvaluation> evaluation_from_json(const std::string& text);
/// Whether it is of so many classes, and all samples that it names and counts are among so many.
bool fits(const ClassificationEvaluation& evaluation, int64_t classes, int64_t samples);

/// A batch of evaluation samples and the model's predictions.
struct ClassifiedBatch {
  std::vector<int64_t> indices;      // of the data set
  at::Tensor labels;                 // (B) int64
  at::Tensor logits;                 // (B, classes) float32, on the CPU
  int64_t place = 0;                 // of its first sample, in the order in which the batches come
  std::vector<at::Tensor> inputs{};  // of the model, in the order of deploy::inputs_of()
};

/// A sample, and all that an evaluation sums up of it.
struct MeasuredSample {
  ClassifiedSample sample{};
  double loss = 0;          // −log p of its class, in nats
  bool among_five = false;  // whether its class is one of the five likeliest; false where there are no more than five
};

/// In the order of the batch.
std::vector<MeasuredSample> measured(const ClassifiedBatch& batch);

/// Sums up samples into an evaluation: the same for the same samples in the same order, to the last bit.
class ClassificationTally {
 public:
  explicit ClassificationTally(int64_t classes);
  void add(const MeasuredSample& measured);
  ClassificationEvaluation finish() const;

 private:
  void keep(const ClassifiedSample& sample);

  ClassificationEvaluation sums_;
  std::vector<size_t> right_per_class_;
  double loss_ = 0;
  int64_t right_ = 0, among_five_ = 0;
};

}  // namespace cachet::tasks
