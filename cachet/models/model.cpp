#include "cachet/models/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/randint.h>

#include "cachet/nn/base/regularizer.h"

namespace cachet::models {

torch::Tensor Model::with_penalty(const torch::Tensor& mean) {
  const torch::Tensor penalty = nn::total_penalty(*this);
  return penalty.defined() ? mean + penalty : mean;
}

Trial Model::classifier_trial(std::function<torch::Tensor()> forward, int64_t batch, int64_t classes,
                              const torch::TensorOptions& options) {
  const torch::Tensor labels = at::randint(classes, {batch}, options.dtype(at::kLong));
  return {forward, [this, forward, labels, classes] {
            const torch::Tensor targets = at::one_hot(labels, classes).to(at::kFloat);
            return with_penalty(summed_cross_entropy(forward(), targets) / labels.size(0));
          }};
}

torch::Tensor summed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets) {
  return -(targets * logits.to(at::kFloat).log_softmax(1)).sum(1).sum();
}

}  // namespace cachet::models
