#include "cachet/models/language/classification_head.h"

#include <ATen/ops/relu.h>

#include <string>

namespace cachet::models {

ClassificationHead::ClassificationHead(const std::vector<int64_t>& widths) : Cloneable("ClassificationHead") {
  for (size_t i = 1; i < widths.size(); ++i)
    layers_.push_back(
        register_module("fc" + std::to_string(i), std::make_shared<nn::Linear>(widths[i - 1], widths[i])));
}

torch::Tensor ClassificationHead::forward(torch::Tensor x) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) x = at::relu(x);
    x = layers_[i]->forward(x);
  }
  return x;
}

}  // namespace cachet::models
