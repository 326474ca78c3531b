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

/// While a model trains: the fraction of normal channels (PNAC, normality.h) of what each norm with batch statistics
/// measured in its last recorded passes. One forward pass of a norm is one pass; if a step has several micro-batches,
/// it has as many. Passes in evaluation do not count.
class RecentNormality {
 public:
  /// Listens to this model, which must live as long. passes: kMinForNormality or more.
  RecentNormality(torch::nn::Module& model, int64_t passes);

  /// Whether the passes that follow count. At first they do.
  void record(bool recorded) { recorded_ = recorded; }

  struct Layer {
    std::string layer;
    double forward = 0, gradient = 0;  // gradient: NaN if the norm has no statistic of its gradient, or too few yet
  };
  /// The statistics of a layer's last passes, (passes, C), on the model's device.
  struct UnreadLayer {
    std::string layer;
    at::Tensor forward, gradient;  // gradient: no rows if the norm has no statistic of its gradient, or too few yet
  };
  /// The layers that have had so many passes, in the order in which the model calls them. What they measured stays on
  /// the device, so that a caller can copy all of it to the host at once.
  std::vector<UnreadLayer> unread_layers() const;
  /// numbers: those of `forward` or of `gradient`, on the host. NaN for none.
  double normal_share(std::span<const double> numbers) const;
  /// The same layers, read one by one.
  std::vector<Layer> layers() const;
  int64_t passes() const { return passes_; }

 private:
  struct Statistics {
    std::deque<at::Tensor> forward, gradient;  // (C), the newest last, as many as passes_ at most
  };
  nn::Listener listener();
  void keep(std::deque<at::Tensor>& statistics, const at::Tensor& newest) const;

  int64_t passes_;
  bool recorded_ = true;
  ByLayer<Statistics> layers_;
  nn::Observation observation_;
};

}  // namespace cachet::analysis
