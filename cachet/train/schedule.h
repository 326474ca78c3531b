#pragma once

#include <cstdint>
#include <vector>

#include "cachet/train/optimizer_options.h"

namespace cachet::train {

/// The learning rate as a function of the step s: up to the peak in a straight line, then along
///   minimum + (peak - minimum)·(1 + cos πp)/2    (cosine, one_cycle)
///   minimum + (peak - minimum)·(1 - p)           (linear)
///   peak                                         (constant)
///   peak·√(w / s)                                (inverse_sqrt; arena)
/// with p running from 0 at the end of the warm-up, w steps long, to 1 at the end of the run. one_cycle goes up along
/// half a cosine too, from a 25th of the peak unless told otherwise, and down to a 10,000th of that (Smith & Topin,
/// arXiv 1708.07120, as PyTorch has it). arena is inverse_sqrt with a peak of lr/√w: the Long Range Arena's
/// lr·min(1, s/w)/√max(s, w). There is no state: a longer run is another function of the same step.
///
/// step is peak·factorᵏ behind k milestones, as detectors are trained (mmdetection 2.13). Its warm-up is theirs, too: a
/// share of that rate, from warmup_factor at the first step in a straight line to 1 at the first behind the warm-up.
class Schedule {
 public:
  Schedule(const ScheduleOptions& options, double peak, int64_t total_steps, int64_t steps_per_epoch);

  /// For the step that is the `step`-th of the run, from 0 on.
  double learning_rate(int64_t step) const;

  int64_t warmup_steps() const { return warmup_steps_; }

 private:
  double stepped_rate(int64_t step) const;

  ScheduleOptions options_;
  double peak_;
  int64_t total_steps_;
  int64_t warmup_steps_;
  std::vector<int64_t> milestones_;  // in steps
};

}  // namespace cachet::train
