#pragma once

#include <functional>
#include <iostream>
#include <memory>

#include "benchmarks/pairs.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/optimizer/optimizer.h"

namespace cachet::benchmarks {

/// Training steps of a model on the CPU with AdamW, in milliseconds.
class TimedTraining {
 public:
  TimedTraining(std::shared_ptr<torch::nn::Module> model, train::Precision precision)
      : model_(std::move(model)),
        precision_(precision),
        optimizer_(train::make_optimizer({}, train::parameter_groups(*model_))) {}

  double forward_backward(const std::function<at::Tensor()>& make_loss) {
    return milliseconds_of([&] {
      model_->zero_grad();
      at::Tensor loss;
      {
        const train::PrecisionScope scope(precision_, c10::kCPU);
        loss = make_loss();
      }
      loss.backward();
    });
  }
  /// A line as benchmarks/training_steps.py reads it: without the optimizer's part, and with it.
  void print_step(const std::function<at::Tensor()>& make_loss) {
    const double passes = forward_backward(make_loss);
    const double update = milliseconds_of([&] { optimizer_->step({1e-4}); });
    std::cout << passes << " " << passes + update << std::endl;
  }

 private:
  std::shared_ptr<torch::nn::Module> model_;
  train::Precision precision_;
  std::unique_ptr<train::Optimizer> optimizer_;
};

}  // namespace cachet::benchmarks
