#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cachet/deploy/equality.h"
#include "cachet/models/model.h"
#include "cachet/train/runs/sample_words.h"

namespace cachet::tasks {

/// Scores of a model, for the comparison with the scores of its export.
struct ComparedScores {
  at::Tensor scores;    // (N, choices), float32 or wider; a softmax of each row gives probabilities
  std::string samples;  // description of the N rows: "64 beginnings of test tokens"
  deploy::DecisionWords words{};
};

/// A task whose model cannot be written as a graph for an engine. The export of a task with this interface has the
/// rewritten model (deploy/rewrite.h) instead of a graph.
class ExportsRewrittenModel {
 public:
  virtual ~ExportsRewrittenModel() = default;
  /// Returns the scores of held-out data if the task has opened such data. If the task has not opened held-out data,
  /// returns the scores of synthetic samples. Models with equal input sizes get equal synthetic samples. The model must
  /// be in evaluation mode.
  virtual ComparedScores compared_scores() = 0;
  /// Returns the end of the message "its model is not a fixed graph, because it …".
  virtual std::string why_no_graph() const = 0;
};

/// Returns `what` followed by a description of the compared samples. For "64 beginnings of ", returns "64 beginnings of
/// test tokens", or "64 beginnings of random tokens, none of them from the data".
std::string compared_samples(const std::string& what, const train::SampleWords& words, bool real);

/// Completes a description with `count` samples: "" gives "256 test images" or "1 test image", and "9 boxes on " gives
/// "9 boxes on 1 test image".
std::string compared_samples(const std::string& what, int64_t count, const train::SampleWords& words, bool real);

/// A task plan that accepts a rewritten model (deploy/rewrite.h) as its model. A rewritten model runs on LibTorch
/// alone.
class TakesRewrittenModel {
 public:
  virtual ~TakesRewrittenModel() = default;
  /// Makes build() use the model that `make` returns, which must be of the same kind as the plan's model.
  virtual void replace_model(std::function<std::shared_ptr<models::Model>()> make) = 0;
};

// Constants for the comparison of models that write text.
inline constexpr int64_t kComparedBeginnings = 64;
inline constexpr const char* kWritesTokenByToken = "writes token by token and remembers what it has read";

}  // namespace cachet::tasks
