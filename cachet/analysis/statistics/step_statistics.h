#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/norm/norm.h"

namespace cachet::analysis {

/// Whether a model has a norm with batch statistics that StepStatistics can observe.
bool has_batch_statistics(const torch::nn::Module& model);

/// The statistics of a model's norms at each step of training: batch norm's variance, unified and power normalization's
/// mean square, and, if a norm has them, the statistics of its gradient.
class StepStatistics {
 public:
  struct Layer {
    std::vector<at::Tensor> forward, gradient;  // (C) for each step, float64, before any averaging over steps
    int64_t window = 0, gradient_window = 0;    // steps over which the norm averages; 0 without a window
    std::vector<double> used, running;          // means over channels: of the statistic in use, of the running average
    std::vector<double> apart;                  // ‖used − running‖ ÷ ‖running‖
    std::vector<double> filtered;               // steps that unified normalization filtered since its construction.
                                                // If each channel has a threshold, `filtered` is the channels' mean.
  };

  /// Selects the norms of `model` that have batch statistics. The model must outlive this object.
  explicit StepStatistics(const torch::nn::Module& model);
  nn::Listener listener();
  const ByLayer<Layer>& layers() const { return layers_; }

 private:
  std::map<std::string, std::shared_ptr<const nn::Norm>> norms_;
  ByLayer<Layer> layers_;
};

/// The fluctuation of a norm's statistics s_t over the training steps t. With the mean s̄ of s_t over the steps,
/// computed for each channel,
///   steps[t] = ‖s_t − s̄‖ ÷ √(mean_t ‖s_t‖²),   overall = √(mean of steps²).
/// A fluctuation of 0 means that the statistics are the same in all steps. A fluctuation of 1 means that the mean s̄ is
/// zero.
struct Fluctuation {
  std::vector<double> steps;
  double overall = 0;
};
/// Returns the fluctuation of statistics. Throws std::invalid_argument if there are no steps.
Fluctuation fluctuation_of(const std::vector<at::Tensor>& statistics);

}  // namespace cachet::analysis
