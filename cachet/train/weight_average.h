#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "cachet/io/tensor_map.h"

namespace cachet::train {

/// An exponential moving average of a model's parameters: a ← d·a + (1 − d)·p after each step. Buffers (cache, norm
/// statistics, counters) are states of the model, not weights: they are never averaged but taken as they are.
class WeightAverage {
 public:
  /// Starts at the model's present parameters. The model must outlive it.
  WeightAverage(torch::nn::Module& model, double decay);

  void update();

  /// While it lives the model's parameters are the averaged ones.
  class Applied {
   public:
    explicit Applied(WeightAverage& average);
    Applied(const Applied&) = delete;
    Applied& operator=(const Applied&) = delete;
    ~Applied();

   private:
    WeightAverage& average_;
    std::vector<at::Tensor> own_;
  };

  /// A whole state dict, as io::state_dict would name it: averaged parameters and copies of the model's buffers.
  io::TensorMap state() const;
  /// Takes the parameters. Throws std::runtime_error naming one that is missing or of another shape.
  void load_state(const io::TensorMap& state);

 private:
  torch::nn::Module& model_;
  double decay_;
  std::vector<std::vector<std::string>> names_;  // all of each; the first is what it is saved by
  std::vector<at::Tensor> parameters_, averages_;
};

}  // namespace cachet::train
