#pragma once

#include <string>

#include "cachet/report/text/progress.h"
#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/step/training_step.h"

namespace cachet::train {

/// The speed of training since the last step line, by the clock of this process.
class StepMeter {
 public:
  void begin_step();
  double end_step(const StepSummary& result);  // duration of the step in seconds
  void reset();                                // after a step line

  double samples_per_second() const;
  double tokens_per_second() const;  // 0 if samples have no tokens
  double data_wait() const;          // fraction of the time, in [0, 1]
  /// Returns "seconds" of the run, "step_seconds" of the steps since the last line, "samples_per_second",
  /// "tokens_per_second" (if there are tokens), "data_wait", "memory_bytes", "seconds_left" of the run.
  Metrics machine(double run_seconds, double step_seconds, double seconds_left) const;

 private:
  double step_start_ = 0, seconds_ = 0, waited_ = 0;
  int64_t samples_ = 0, tokens_ = 0;
};

/// In a step line: the duration of the steps since the previous line, without evaluations and checkpoints.
inline constexpr const char* kStepSeconds = "step_seconds";

/// The title of "tokens_per_second": "tokens/s" unless the run describes it, for example with several kinds of tokens.
std::string token_rate_title(const RunDescription& run);

/// Returns the line of log.txt for an event.
std::string event_text(const Event& event, int64_t total_steps, const RunDescription& run);

/// Returns a progress bar's values for the running means of a state. The rate is in tokens if there are any.
report::ProgressState progress_state(const TrainState& state, const RunDescription& run, double learning_rate,
                                     double gradient_norm, const StepMeter& meter);

}  // namespace cachet::train
