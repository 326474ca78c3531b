#pragma once

#include <cstdint>
#include <vector>

#include "cachet/train/optimizer/optimizer_options.h"

namespace cachet::train {

/// The learning rate and the momentum of torch.optim.lr_scheduler.OneCycleLR (Smith & Topin, arXiv 1708.07120). The
/// rate rises to its peak at step warmup − 1, and falls until the last step of the run. With three_phase, the fall to
/// the first rate takes as many steps as the rise; then the rate falls to the lowest rate. The momentum falls when the
/// rate rises, and rises when the rate falls. For a warm-up of one step, PyTorch divides by zero; in Cachet, this step
/// has the peak rate. If a warm-up is as long as the run or longer, the rate only rises.
class OneCycle {
 public:
  /// `warmup` is the number of steps in which the rate rises. The number `warmup` need not be an integer.
  OneCycle(const OneCycleOptions& options, double peak, int64_t total_steps, double warmup);

  /// Returns the learning rate of step `step`, from 0 on. After the last step, returns the last step's rate.
  double learning_rate(int64_t step) const;
  double momentum(int64_t step) const;

 private:
  struct Phase {
    double start, end;  // numbers of steps, not necessarily integers
    double first_rate, last_rate, first_momentum, last_momentum;
  };
  /// Returns the value that lies between `first` and `last` at the fraction `progress` of the distance.
  double between(double first, double last, double progress) const;
  const Phase& phase_of(int64_t step) const;
  static double share_of(const Phase& phase, int64_t step);

  OneCycleOptions::Anneal anneal_;
  std::vector<Phase> phases_;
};

}  // namespace cachet::train
