#pragma once

#include <string>

#include "cachet/report/text/progress.h"
#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/step/training_step.h"

namespace cachet::train {

/// How fast training goes since the last step line, by the clock of this process.
class StepMeter {
 public:
  void begin_step();
  double end_step(const StepSummary& result);  // the seconds that the step took
  void reset();                                // after a step line

  double samples_per_second() const;
  double tokens_per_second() const;  // 0 where samples have none
  double data_wait() const;          // fraction of the time, in [0, 1]
  /// "seconds" of the run, "step_seconds" that the steps since the last line took, "samples_per_second",
  /// "tokens_per_second" (where there are tokens), "data_wait", "memory_bytes", "seconds_left" of the run.
  Metrics machine(double run_seconds, double step_seconds, double seconds_left) const;

 private:
  double step_start_ = 0, seconds_ = 0, waited_ = 0;
  int64_t samples_ = 0, tokens_ = 0;
};

/// Of a step line: the time that the steps since the line before took, without evaluations and checkpoints.
inline constexpr const char* kStepSeconds = "step_seconds";

/// What "tokens_per_second" is called: "tokens/s" unless the run describes it, as where tokens are of several kinds.
std::string token_rate_title(const RunDescription& run);

/// The line that log.txt has for an event.
std::string event_text(const Event& event, int64_t total_steps, const RunDescription& run);

/// What a progress bar shows for the running means of a state. The rate is that of tokens where there are any.
report::ProgressState progress_state(const TrainState& state, const RunDescription& run, double learning_rate,
                                     double gradient_norm, const StepMeter& meter);

}  // namespace cachet::train
