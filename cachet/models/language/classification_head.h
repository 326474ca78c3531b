#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::models {

/// Linear layers fc1, fc2, … with a ReLU between each two.
class ClassificationHead : public nn::Cloneable<ClassificationHead> {
 public:
  /// Makes layers from widths[0] channels through widths[1], … to widths.back() scores.
  explicit ClassificationHead(const std::vector<int64_t>& widths);
  /// Returns the scores: x (B, widths[0]) -> (B, widths.back()).
  torch::Tensor forward(torch::Tensor x) const;
  /// Merges the affine map `before` into the first linear layer. The merged head returns for x the result that the head
  /// returned earlier for before.apply(x).
  void fold_affine_before(const nn::Affine& before) { layers_.front()->fold_affine_before(before); }

 private:
  std::vector<nn::Submodule<nn::Linear>> layers_;
};

}  // namespace cachet::models
