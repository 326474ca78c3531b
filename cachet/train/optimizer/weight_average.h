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

/// How weights are averaged: keys `ema_decay`, `ema_warmup` of [train].
struct AverageOptions {
  double decay = 0;     // d; 0 = no average
  bool warmup = false;  // the decay of the n-th update is at most 1 − n^(−2/3), as in timm's ModelEmaV3

  /// The decay of the n-th update of a run, from 1 on.
  double decay_of(int64_t update) const;
};

AverageOptions average_options(const TrainOptions& options);

/// Why an average over a run of so many steps is mostly the weights of its start, and what to do; nothing if it is not.
std::optional<std::string> slow_decay_note(const AverageOptions& options, int64_t steps);

/// An exponential moving average of a model's parameters: a ← d·a + (1 − d)·p after each step. Buffers (cache, norm
/// statistics, counters) are states of the model, not weights: they are never averaged. The average has the model's,
/// until recalibrate() makes its own; these hold until the next update.
class WeightAverage {
 public:
  /// Starts at the model's present parameters. The model must outlive it.
  WeightAverage(torch::nn::Module& model, const AverageOptions& options);

  /// After the n-th step of a run, from 1 on.
  void update(int64_t step);

  /// Calls `passes` while the model has the averaged parameters, and keeps what this makes of the model's buffers as
  /// the average's own. Parameters and buffers of the model are then as before. Returns whether the average had other
  /// states before.
  bool recalibrate(const std::function<void()>& passes);

  /// While it lives the model's parameters are the averaged ones, and its buffers the average's own where it has them.
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

  /// A whole state dict, as io::state_dict would name it: averaged parameters, and its own states or else copies of the
  /// model's buffers.
  io::TensorMap state() const;
  /// Takes the parameters, and the buffers as its own states. Throws std::runtime_error naming one that is missing or
  /// of another shape.
  void load_state(const io::TensorMap& state);

 private:
  torch::nn::Module& model_;
  AverageOptions options_;
  std::vector<std::vector<std::string>> names_;  // all of each; the first is what it is saved by
  std::vector<at::Tensor> parameters_, averages_;
  std::vector<at::Tensor> states_;  // its own, in the order of io::distinct_buffers(); none = the model's
};

}  // namespace cachet::train
