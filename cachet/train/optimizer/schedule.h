#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachet/train/optimizer/one_cycle.h"
#include "cachet/train/optimizer/optimizer.h"
#include "cachet/train/optimizer/optimizer_options.h"

namespace cachet::train {

/// The learning rate as a function of the step s, from 0 on. It rises in a straight line over the w steps of the
/// warm-up,
///   from + (peak - from)·(s + f)/w,
/// and then it is
///   minimum + (peak - minimum)·(1 + cos πp)/2    (cosine)
///   minimum + (peak - minimum)·(1 - p)           (linear)
///   peak                                         (constant)
///   peak·√(w/(s + f))                            (inverse_sqrt; arena)
/// where p runs from 0 at step w to 1 at the end of the run, and f is first_update, the number that the first step
/// counts as. arena is inverse_sqrt with a peak of lr/√w: the Long Range Arena's lr·min(1, s/w)/√max(s, w). one_cycle
/// is OneCycle, or for runs that began before it the curve of version 0.1.0: half a cosine up and half a cosine down,
/// by default from a 25th of the peak to a 10,000th of that. There is no state: a longer run is another function of the
/// same step.
///
/// step is peak·factorᵏ after k milestones, as detectors are trained (mmdetection 2.13). Its warm-up is theirs, too:
/// that rate times a factor, which goes in a straight line from warmup_factor at the first step to 1 at the first step
/// after the warm-up.
class Schedule {
 public:
  Schedule(const ScheduleOptions& options, double peak, int64_t total_steps, int64_t steps_per_epoch);

  /// For the step that is the `step`-th of the run, from 0 on.
  double learning_rate(int64_t step) const;
  /// What replaces AdamW's first beta or SGD's momentum in this step; nothing if they stay as they are.
  std::optional<double> momentum(int64_t step) const;
  UpdateRates rates(int64_t step) const { return {learning_rate(step), momentum(step)}; }

  int64_t warmup_steps() const { return warmup_steps_; }

 private:
  double stepped_rate(int64_t step) const;

  ScheduleOptions options_;
  double peak_;
  int64_t total_steps_;
  int64_t warmup_steps_;
  std::vector<int64_t> milestones_;    // in steps
  std::optional<OneCycle> one_cycle_;  // of this kind by PyTorch's rule
};

}  // namespace cachet::train
