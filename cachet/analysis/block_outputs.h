#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cachet/nn/observer.h"

namespace cachet::analysis {

/// What the transformer blocks of a model give for batches of examples, as far as their alignment (CKA) depends on it.
/// Tokens that are padding count as zeros.
class BlockOutputs {
 public:
  /// Batches of as many examples; others, such as a shorter last one, are passed over.
  explicit BlockOutputs(int64_t examples) : examples_(examples) {}

  nn::Listener listener();
  const std::vector<std::string>& layers() const { return layers_; }
  int64_t batches() const { return static_cast<int64_t>(batches_.size()); }
  /// (examples, examples) in float64 for each layer: root_of_gram() of what the block gave.
  const std::vector<at::Tensor>& batch(int64_t index) const { return batches_.at(static_cast<size_t>(index)); }

 private:
  int64_t examples_;
  std::vector<std::string> layers_;
  std::vector<std::vector<at::Tensor>> batches_;
  std::pair<std::string, at::Tensor> padding_;  // told last: by whom, and which tokens are padding
};

/// A representation of the same examples with the same products between them in no more columns than examples:
/// alignment sees no difference, and whole token maps need not be kept. x (examples, …) -> (examples, examples),
/// float64.
at::Tensor root_of_gram(const at::Tensor& x);

}  // namespace cachet::analysis
