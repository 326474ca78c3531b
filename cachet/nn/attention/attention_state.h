#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cachet::nn {

/// What one attention layer remembers of a stream (keys and values, running sums, per-lane caches), held by the caller.
/// Every tensor has the lanes of the batch in its first dimension, or 1 there when the lanes share it.
struct AttentionState {
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::shared_ptr<AttentionState>> parts;  // of the layers inside this one

  /// The part of this name, made when it is asked for the first time.
  AttentionState& part(const std::string& name);

  /// Rearranges the lanes: lane i becomes the former lane rows[i] (beam search). rows (B') int64.
  void reorder(const at::Tensor& rows);

  /// Cuts the graph behind all tensors: where truncated back-propagation stops.
  void detach();

  /// All tensors by path ("memory/cache"), for checkpoints.
  std::map<std::string, at::Tensor> named_tensors() const;
};

}  // namespace cachet::nn
