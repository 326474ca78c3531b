#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/step/replayed_work.h"

namespace cachet::train {

/// Runs the passes of a model in evaluation mode. With a StepExecutor, the passes may be replayed. Replays read the
/// present weights, which must stay at their addresses. Without an executor, the passes run directly.
class ReplayedInference {
 public:
  /// A pass returns its outputs, tensors on the device.
  using Pass = std::function<std::vector<at::Tensor>()>;

  /// Runs directly.
  ReplayedInference() = default;
  /// If `executor` is null, passes run directly. The model must outlive this object.
  ReplayedInference(const torch::nn::Module& model, std::shared_ptr<StepExecutor> executor);

  bool replays() const { return replayed_.has_value(); }

  /// Runs or replays a pass. With equal keys and equal shapes of `inputs`, the pass makes the same calls. `inputs` are
  /// all tensors that the pass reads, except the tensors of the model; the pass may replace an input by a tensor for
  /// the next pass, such as a memory. Returns the outputs. The next call may overwrite the outputs, so the caller
  /// copies them to the host, or into tensors of its own.
  std::vector<at::Tensor> run(const std::string& key, const std::vector<at::Tensor*>& inputs, const Pass& pass);

 private:
  std::optional<ReplayedWork<std::vector<at::Tensor>>> replayed_;
};

}  // namespace cachet::train
