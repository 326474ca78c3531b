#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// The outputs of layers for batches of examples, in a form from which their alignment (CKA) can be computed.
class Representations {
 public:
  const std::vector<std::string>& layers() const { return layers_; }
  int64_t batches() const { return static_cast<int64_t>(batches_.size()); }
  /// Returns a tensor (examples, examples) in float64 for each layer: root_of_gram() of the layer's output.
  const std::vector<at::Tensor>& batch(int64_t index) const { return batches_.at(static_cast<size_t>(index)); }

  /// Adds a layer's output. If `layer` is the layer that was added first, its output begins a new batch. Thus, if a
  /// model calls each layer n times for one batch (as for pairs of sequences), the object stores n batches.
  void add(const std::string& layer, at::Tensor root);

 private:
  std::vector<std::string> layers_;
  std::vector<std::vector<at::Tensor>> batches_;
};

/// The outputs of a model's transformer blocks for batches of examples, and the outputs of the blocks' norms, attention
/// and feed-forward layers ("blocks.3.norm1", "blocks.3.attn", …). Padding tokens count as zeros.
class BlockOutputs {
 public:
  /// Uses only batches that have exactly `examples` examples. Ignores batches of another size, such as a smaller last
  /// batch.
  explicit BlockOutputs(int64_t examples) : examples_(examples) {}

  nn::Listener listener();
  const Representations& blocks() const { return blocks_; }
  const Representations& parts() const { return parts_; }

 private:
  int64_t examples_;
  Representations blocks_, parts_;
  std::map<std::string, at::Tensor> padding_;  // padding tokens of the blocks in progress
};

/// Returns a square matrix whose rows have the same inner products as the examples in x. The alignment (CKA) of two
/// layers can be computed from these matrices, so the layers' outputs x need not be stored. x (examples, …) ->
/// (examples, examples), float64.
at::Tensor root_of_gram(const at::Tensor& x);

}  // namespace cachet::analysis
