#include "cachet/models/language/sequence_classifier.h"

#include <ATen/ops/randint.h>

namespace cachet::models {

ModelInput input_of(const SequenceShape& sequence) {
  return {"sequence",
          {{"vocabulary", sequence.vocabulary}, {"max_length", sequence.max_length}, {"pairs", sequence.pairs}},
          (sequence.pairs ? "2 x " : "") + std::to_string(sequence.max_length) + " tokens"};
}

Trial SequenceClassifier::trial(int64_t batch, const torch::TensorOptions& options) {
  const SequenceShape shape = sequence_shape();
  const auto sequences = [&] {
    return Sequences{at::randint(shape.vocabulary, {batch, shape.max_length}, options.dtype(at::kLong)), {}};
  };
  const Sequences first = sequences(), second = shape.pairs ? sequences() : Sequences{};
  return classifier_trial([this, first, second] { return forward(first, second); }, batch, classes(), options);
}

}  // namespace cachet::models
