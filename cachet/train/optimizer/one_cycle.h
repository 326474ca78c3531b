#pragma once

#include <cstdint>
#include <vector>

#include "cachet/train/optimizer/optimizer_options.h"

namespace cachet::train {

/// The learning rate and the momentum of torch.optim.lr_scheduler.OneCycleLR (Smith & Topin, arXiv 1708.07120): up to
/// the peak, which is the rate of step warmup − 1, and down to the last step of the run; with three_phase down to the
/// first rate in as many steps as up, and from there to the least. The momentum moves against the rate. If a warm-up
/// has one step, PyTorch divides by zero; here this step has the peak. If a warm-up is as long as the run or longer,
/// the rate only climbs.
class OneCycle {
 public:
  /// `warmup`: steps of the way up, which need not be a whole number.
  OneCycle(const OneCycleOptions& options, double peak, int64_t total_steps, double warmup);

  /// For the step that is the `step`-th of the run, from 0 on; after the end of the run those of its last step.
  double learning_rate(int64_t step) const;
  double momentum(int64_t step) const;

 private:
  struct Phase {
    double start, end;  // steps, which need not be whole numbers
    double first_rate, last_rate, first_momentum, last_momentum;
  };
  /// The value after a fraction `progress` of the way from one value to another.
  double between(double first, double last, double progress) const;
  const Phase& phase_of(int64_t step) const;
  static double share_of(const Phase& phase, int64_t step);

  OneCycleOptions::Anneal anneal_;
  std::vector<Phase> phases_;
};

}  // namespace cachet::train
