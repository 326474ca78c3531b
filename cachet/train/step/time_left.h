#pragma once

#include <cstdint>

#include "cachet/train/options.h"

namespace cachet::train {

/// What a run still has to do.
struct WorkLeft {
  int64_t steps = 0, evaluations = 0, checkpoints = 0;
};

/// After `step` steps, before the evaluation and the checkpoint that are due at that step. Both are due at the last
/// step, too; a checkpoint is saved before each evaluation.
WorkLeft work_left(const TrainOptions& options, int64_t steps_per_epoch, int64_t total_steps, int64_t step);

/// How long the rest of a run takes, from the means of what was measured.
class TimeLeft {
 public:
  void add_step(double seconds, int64_t samples);
  void add_evaluation(double seconds) { evaluations_.add(seconds); }
  void add_checkpoint(double seconds) { checkpoints_.add(seconds); }

  /// Before the first evaluation it counts as forward passes over so many samples.
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
  int64_t samples_ = 0;  // of all steps
};

}  // namespace cachet::train
