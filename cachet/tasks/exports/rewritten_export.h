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

/// The scores that an export of a model is checked against.
struct ComparedScores {
  at::Tensor scores;    // (N, choices), float32 or wider; a softmax makes probabilities of each row
  std::string samples;  // what the N are: "64 beginnings of test tokens"
  deploy::DecisionWords words{};
};

/// A task whose model is not a graph that an engine could run: its export is the rewritten model itself.
class ExportsRewrittenModel {
 public:
  virtual ~ExportsRewrittenModel() = default;
  /// Scores of held-out data if the task opened some, otherwise of synthetic samples, the same for every model of one
  /// size. The model is in evaluation mode.
  virtual ComparedScores compared_scores() = 0;
  /// The reason why it is not a graph, after "its model": "writes token by token".
  virtual std::string why_no_graph() const = 0;
};

/// What was compared of samples, in words: "64 beginnings of " gives "64 beginnings of test tokens", or "… random
/// tokens, none of them real".
std::string compared_samples(const std::string& what, const train::SampleWords& words, bool real);

/// The same of so many samples: "" gives "256 test images" or "1 test image", "9 boxes on " gives "9 boxes on 1 test
/// image".
std::string compared_samples(const std::string& what, int64_t count, const train::SampleWords& words, bool real);

/// A plan whose model can be one that was rewritten, and runs on LibTorch by itself.
class TakesRewrittenModel {
 public:
  virtual ~TakesRewrittenModel() = default;
  /// What is built from now on is what `make` gives, a model of the same kind.
  virtual void replace_model(std::function<std::shared_ptr<models::Model>()> make) = 0;
};

// Of models that write text.
inline constexpr int64_t kComparedBeginnings = 64;
inline constexpr const char* kWritesTokenByToken = "writes token by token, and keeps what it has read";

}  // namespace cachet::tasks
