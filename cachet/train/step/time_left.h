#pragma once

#include <cstdint>

#include "cachet/train/options.h"

namespace cachet::train {

/// The remaining work of a run.
struct WorkLeft {
  int64_t steps = 0, evaluations = 0, checkpoints = 0;
};

/// Returns the work that is left after `step` steps, including an evaluation and a checkpoint that are due at the step
/// `step`. An evaluation and a checkpoint are also due at the last step. A checkpoint is saved before each evaluation.
WorkLeft work_left(const TrainOptions& options, int64_t steps_per_epoch, int64_t total_steps, int64_t step);

/// Estimates the remaining duration of a run from the means of measured times.
class TimeLeft {
 public:
  void add_step(double seconds, int64_t samples);
  void add_evaluation(double seconds) { evaluations_.add(seconds); }
  void add_checkpoint(double seconds) { checkpoints_.add(seconds); }

  /// Until the first evaluation has been timed, its time is estimated as the time of forward passes of
  /// `evaluated_samples` samples.
  double seconds(const WorkLeft& left, int64_t evaluated_samples) const;

 private:
  struct Mean {
    double total = 0;
    int64_t count = 0;
    void add(double seconds) {
      total += seconds;
      ++count;
    }
    double value() const { return count > 0 ? total / static_cast<double>(count) : 0; }
  };
  Mean steps_, evaluations_, checkpoints_;
  int64_t samples_ = 0;  // number of samples of all steps
};

}  // namespace cachet::train
