#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/models/model.h"
#include "cachet/models/model_plan.h"

namespace cachet::models {

/// The form of the sequences that a model reads.
struct SequenceShape {
  int64_t vocabulary = 257;   // number of ids
  int64_t max_length = 1000;  // maximum number of tokens of a sequence
  bool pairs = false;         // whether a sample is a pair of sequences
};

ModelInput input_of(const SequenceShape& sequence);

/// A batch of sequences of equal length.
struct Sequences {
  torch::Tensor ids;      // (B, L) int64
  torch::Tensor padding;  // (B, L) bool, true = padding; undefined = none
};

/// A model that maps sequences of tokens, or pairs of sequences, to class scores.
class SequenceClassifier : public virtual Model {
 public:
  /// `second`: the second sequences of pairs (their length may differ), or undefined. Returns logits (B, classes).
  virtual torch::Tensor forward(const Sequences& first, const Sequences& second) = 0;
  virtual SequenceShape sequence_shape() const = 0;
  virtual int64_t classes() const = 0;

  Trial trial(int64_t batch, const torch::TensorOptions& options) override;
};

struct SequenceClassifierPlan {
  std::string name;
  SequenceShape sequence;
  int64_t classes = 0;
  std::function<std::shared_ptr<SequenceClassifier>()> build;

  operator ModelPlan() const { return {name, input_of(sequence), build}; }
};

/// The values of a sequence data set that are the default values of `[model]` keys in a recipe.
struct SequenceDefaults {
  std::optional<SequenceShape> sequence{};
  std::optional<int64_t> classes{};
};

}  // namespace cachet::models
