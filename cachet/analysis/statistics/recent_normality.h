#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// While a model trains, measures for each norm with batch statistics the fraction of channels with normally
/// distributed statistics (PNAC, normality.h) over the last recorded passes. Each forward pass of a norm counts once,
/// so an optimizer step with several micro-batches adds several passes. Forward passes in evaluation are not counted.
class RecentNormality {
 public:
  /// Observes the forward passes of `model`, which must outlive this object. `passes` is at least kMinForNormality.
  RecentNormality(torch::nn::Module& model, int64_t passes);

  /// Sets whether the following forward passes are recorded. Initially, passes are recorded.
  void record(bool recorded) { recorded_ = recorded; }

  struct Layer {
    std::string layer;
    double forward = 0, gradient = 0;  // gradient: NaN if the norm has no or too few statistics of its gradient
  };
  /// The statistics of a layer's last passes, (passes, C), on the model's device.
  struct UnreadLayer {
    std::string layer;
    at::Tensor forward, gradient;  // gradient: no rows if the norm has no or too few statistics of its gradient
  };
  /// Returns the layers with at least `passes` recorded passes, in the order of the model's calls. The statistics stay
  /// on the device, so that a caller can copy all of them to the host at once.
  std::vector<UnreadLayer> unread_layers() const;
  /// Returns the fraction of channels that pass the test for a normal distribution, or NaN if `numbers` is empty.
  /// `numbers` has the values of UnreadLayer::forward or UnreadLayer::gradient, copied to the host.
  double normal_share(std::span<const double> numbers) const;
  /// Returns, for each layer of unread_layers(), the fraction of channels whose statistics pass the test for a normal
  /// distribution. Copies the layers' statistics from the device one by one.
  std::vector<Layer> layers() const;
  int64_t passes() const { return passes_; }

 private:
  struct Statistics {
    std::deque<at::Tensor> forward, gradient;  // (C), the newest last, at most passes_ of them
  };
  nn::Listener listener();
  void keep(std::deque<at::Tensor>& statistics, const at::Tensor& newest) const;

  int64_t passes_;
  bool recorded_ = true;
  ByLayer<Statistics> layers_;
  nn::Observation observation_;
};

}  // namespace cachet::analysis
