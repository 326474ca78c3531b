#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// The options of the average of weights: keys `ema_decay`, `ema_warmup` of [train].
struct AverageOptions {
  double decay = 0;     // d; 0 = no average
  bool warmup = false;  // the decay of the n-th update is at most 1 − n^(−2/3), as in timm's ModelEmaV3

  /// Returns the decay of the n-th update of a run, counted from 1.
  double decay_of(int64_t update) const;
};

AverageOptions average_options(const TrainOptions& options);

/// If too much of the initial weights remains in an average of `steps` steps, returns why and a remedy; else empty.
std::optional<std::string> slow_decay_note(const AverageOptions& options, int64_t steps);

/// An exponential moving average of a model's parameters: a ← d·a + (1 − d)·p after each step. Buffers (cache, norm
/// statistics, counters) are states of the model, not weights, and are never averaged. The average uses the model's
/// buffers, until recalibrate() computes its own; these are valid until the next update.
class WeightAverage {
 public:
  /// Starts with the model's current parameters. The model must outlive this object.
  WeightAverage(torch::nn::Module& model, const AverageOptions& options);

  /// Updates the average after the n-th step of a run, counted from 1.
  void update(int64_t step);

  /// Calls `passes` while the model has the averaged parameters, and stores the resulting buffers as the
  /// average's own. Then restores parameters and buffers of the model. Returns whether the average had other
  /// states before.
  bool recalibrate(const std::function<void()>& passes);

  /// Gives the model the averaged parameters during its lifetime, and the average's own buffers if it has them.
  class Applied {
   public:
    explicit Applied(WeightAverage& average);
    Applied(const Applied&) = delete;
    Applied& operator=(const Applied&) = delete;
    ~Applied();

   private:
    WeightAverage& average_;
    std::vector<at::Tensor> own_, own_states_;
  };

  /// Returns a complete state dict with the names of io::state_dict: averaged parameters, and the average's own states,
  /// or otherwise copies of the model's buffers.
  io::TensorMap state() const;
  /// Loads the parameters, and the buffers as its own states. Throws std::runtime_error that names a tensor that is
  /// missing or has another shape.
  void load_state(const io::TensorMap& state);

 private:
  torch::nn::Module& model_;
  AverageOptions options_;
  std::vector<std::vector<std::string>> names_;  // all names of each parameter; the first one is used for saving
  std::vector<at::Tensor> parameters_, averages_;
  std::vector<at::Tensor> states_;  // the average's own, in the order of io::distinct_buffers(); empty = the model's
};

}  // namespace cachet::train
