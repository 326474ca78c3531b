#pragma once

#include <chrono>
#include <string>

#include "cachet/report/progress.h"
#include "cachet/train/event_log.h"
#include "cachet/train/train_state.h"
#include "cachet/train/training_step.h"

namespace cachet::train {

/// How fast training goes, by the clock of this process: since the last step line, and since the start.
class StepMeter {
 public:
  void begin_step() { step_start_ = Clock::now(); }
  void end_step(const TrainingStep::Result& result);
  void reset();  // after a step line

  double total_seconds() const { return total_seconds_; }  // inside training steps
  double samples_per_second() const;
  double tokens_per_second() const;  // 0 where samples have none
  double data_wait() const;          // share of the time, in [0, 1]
  /// "seconds", "samples_per_second", "tokens_per_second" (where there are tokens), "data_wait", "memory_bytes",
  /// "seconds_left".
  Metrics machine(double run_seconds, int64_t steps_left) const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point step_start_;
  double seconds_ = 0, waited_ = 0, total_seconds_ = 0;
  int64_t samples_ = 0, tokens_ = 0, steps_ = 0, total_steps_ = 0;
};

/// What "tokens_per_second" is called: "tokens/s" unless the run describes it, as where tokens are of several kinds.
std::string token_rate_title(const RunDescription& run);

/// The line that log.txt has for an event.
std::string event_text(const Event& event, int64_t total_steps, const RunDescription& run);

/// What a progress bar shows for the running means of a state. The rate is that of tokens where there are any.
report::ProgressState progress_state(const TrainState& state, const RunDescription& run, double learning_rate,
                                     double gradient_norm, const StepMeter& meter);

}  // namespace cachet::train
