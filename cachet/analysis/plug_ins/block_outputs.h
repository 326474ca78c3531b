#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// What the layers of one kind give for batches of examples, as far as their alignment (CKA) depends on it.
class Representations {
 public:
  const std::vector<std::string>& layers() const { return layers_; }
  int64_t batches() const { return static_cast<int64_t>(batches_.size()); }
  /// (examples, examples) in float64 for each layer: root_of_gram() of what it gave.
  const std::vector<at::Tensor>& batch(int64_t index) const { return batches_.at(static_cast<size_t>(index)); }

  /// The layer that is heard of first opens each batch. A model that calls its layers several times a batch (pairs of
  /// sequences) counts as giving several batches.
  void add(const std::string& layer, at::Tensor root);

 private:
  std::vector<std::string> layers_;
  std::vector<std::vector<at::Tensor>> batches_;
};

/// What the transformer blocks of a model give for batches of examples, and what their norms, attention and
/// feed-forward layers give ("blocks.3.norm1", "blocks.3.attn", …). Tokens that are padding count as zeros.
class BlockOutputs {
 public:
  /// Batches of as many examples; others, such as a shorter last one, are passed over.
  explicit BlockOutputs(int64_t examples) : examples_(examples) {}

  nn::Listener listener();
  const Representations& blocks() const { return blocks_; }
  const Representations& parts() const { return parts_; }

 private:
  int64_t examples_;
  Representations blocks_, parts_;
  std::map<std::string, at::Tensor> padding_;  // which tokens are padding, of blocks that are under way
};

/// A representation of the same examples with the same products between them in no more columns than examples:
/// alignment sees no difference, and whole token maps need not be stored. x (examples, …) -> (examples, examples),
/// float64.
at::Tensor root_of_gram(const at::Tensor& x);

}  // namespace cachet::analysis
