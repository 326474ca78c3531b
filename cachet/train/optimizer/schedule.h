#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachet/train/optimizer/one_cycle.h"
#include "cachet/train/optimizer/optimizer.h"
#include "cachet/train/optimizer/optimizer_options.h"

namespace cachet::train {

/// The learning rate as a function of the step s, counted from 0. In the w steps of the warm-up, the rate rises
/// linearly (f is first_update, the number of the first step):
///   from + (peak - from)·(s + f)/w.
/// After the warm-up, the rate is
///   minimum + (peak - minimum)·(1 + cos πp)/2    (cosine)
///   minimum + (peak - minimum)·(1 - p)           (linear)
///   peak                                         (constant)
///   peak·√(w/(s + f))                            (inverse_sqrt; arena)
/// where p rises from 0 at step w to 1 at the end of the run, and f is first_update, the number of the first step.
/// The kind arena is inverse_sqrt with a peak of lr/√w, which is the Long Range Arena's lr·min(1, s/w)/√max(s, w). The
/// kind one_cycle is OneCycle. For runs that began before OneCycle existed, the kind one_cycle is the curve of version
/// 0.1.0: the rate rises along half a cosine to the peak, and then falls along half a cosine. By default, the curve of
/// version 0.1.0 begins at peak/25 and ends at a 10,000th of the first rate. The schedule has no state. If a run is
/// made longer, the rate of a step may change, but nothing else changes.
///
/// With the kind `step`, the rate is peak·factorᵏ after k milestones, as in mmdetection 2.13 for detectors. During the
/// warm-up of a `step` schedule, the rate is also multiplied by a warm-up factor, as in mmdetection. The warm-up factor
/// rises linearly from warmup_factor at the first step to 1 at the first step after the warm-up.
class Schedule {
 public:
  Schedule(const ScheduleOptions& options, double peak, int64_t total_steps, int64_t steps_per_epoch);

  /// Returns the learning rate for step `step` of the run, counted from 0.
  double learning_rate(int64_t step) const;
  /// Returns the value that replaces AdamW's first beta or SGD's momentum in step `step`, or std::nullopt for no
  /// change.
  std::optional<double> momentum(int64_t step) const;
  UpdateRates rates(int64_t step) const { return {learning_rate(step), momentum(step)}; }

  int64_t warmup_steps() const { return warmup_steps_; }

 private:
  double stepped_rate(int64_t step) const;

  ScheduleOptions options_;
  double peak_;
  int64_t total_steps_;
  int64_t warmup_steps_;
  std::vector<int64_t> milestones_;    // milestones in steps
  std::optional<OneCycle> one_cycle_;  // set for the kind one_cycle with PyTorch's rule
};

}  // namespace cachet::train
