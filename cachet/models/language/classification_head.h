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
  /// Makes linear layers of the widths widths[0] (input channels), widths[1], … and widths.back() (scores).
  explicit ClassificationHead(const std::vector<int64_t>& widths);
  /// Returns the scores: x (B, widths[0]) -> (B, widths.back()).
  torch::Tensor forward(torch::Tensor x) const;
  /// Folds the affine map `before` into the first linear layer. After the call, forward(x) returns what
  /// forward(before.apply(x)) returned before the call.
  void fold_affine_before(const nn::Affine& before) { layers_.front()->fold_affine_before(before); }

 private:
  std::vector<nn::Submodule<nn::Linear>> layers_;
};

}  // namespace cachet::models
