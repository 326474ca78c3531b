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

/// The options for averaging the weights: the keys `ema_decay` and `ema_warmup` of [train].
struct AverageOptions {
  double decay = 0;     // decay d; 0 = no average
  bool warmup = false;  // the decay of the n-th update is at most 1 − n^(−2/3), as in timm's ModelEmaV3

  /// Returns the decay of the n-th update of a run, counted from 1.
  double decay_of(int64_t update) const;
};

AverageOptions average_options(const TrainOptions& options);

/// If over 5 % of the average after `steps` steps would be the initial weights, returns a cause and a remedy.
std::optional<std::string> slow_decay_note(const AverageOptions& options, int64_t steps);

/// An exponential moving average of a model's parameters: a ← d·a + (1 − d)·p after each step. Buffers (cache, norm
/// statistics, counters) are states of the model instead of weights, so they are never averaged. The average uses
/// the model's buffers until recalibrate() computes buffers for the average, which are valid until the next
/// update.
class WeightAverage {
 public:
  /// At first, the average has the values of the model's present parameters. The model must outlive this object.
  WeightAverage(torch::nn::Module& model, const AverageOptions& options);

  /// Updates the average after the n-th step of a run, counted from 1.
  void update(int64_t step);
  /// Returns the weight 1 − d of the parameters in the update after the n-th step.
  double weight_of(int64_t step) const { return 1 - options_.decay_of(step); }
  /// Updates the average with the weight 1 − d, a scalar on the device. A weight of 0 changes nothing.
  void update(const at::Tensor& weight);
  /// Removes the average's own buffers, which belong to the average before an update with a device scalar.
  void forget_states() { states_.clear(); }

  /// Calls `passes` while the model has the averaged parameters, and stores the resulting buffers as the average's own
  /// buffers. After the passes, the model has its own parameters and buffers again. Returns whether recalibrate()
  /// changed the average's own buffers.
  bool recalibrate(const std::function<void()>& passes);

  /// Gives the model the averaged parameters, and the average's own buffers if any, during the object's lifetime.
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

  /// Returns a complete state dict with the names of io::state_dict: the averaged parameters, and the average's own
  /// buffers (or, if it has none, copies of the model's buffers).
  io::TensorMap state() const;
  /// Loads averaged parameters, and the average's own buffers. If a tensor is missing or has another shape, throws
  /// std::runtime_error, which names the tensor.
  void load_state(const io::TensorMap& state);

 private:
  torch::nn::Module& model_;
  AverageOptions options_;
  std::vector<std::vector<std::string>> names_;  // all names of each parameter; a saved tensor has the first name
  std::vector<at::Tensor> parameters_, averages_;
  std::vector<at::Tensor> states_;  // the average's own buffers, as in io::distinct_buffers(); empty = the model's
};

}  // namespace cachet::train
