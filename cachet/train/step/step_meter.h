#pragma once

#include <string>

#include "cachet/report/text/progress.h"
#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/step/training_step.h"

namespace cachet::train {

/// Measures the speed of training since the last step line, by the clock of this process.
class StepMeter {
 public:
  void begin_step();
  double end_step(const StepSummary& result);  // returns the duration of the step in seconds
  void reset();                                // called after a step line

  double samples_per_second() const;
  double tokens_per_second() const;  // 0 if samples have no tokens
  double data_wait() const;          // fraction of the time that training waits for data, in [0, 1]
  /// Returns "seconds" of the run, "step_seconds" of the steps since the last step line, "samples_per_second",
  /// "tokens_per_second" (if samples have tokens), "data_wait", "memory_bytes", and "seconds_left" of the run.
  Metrics machine(double run_seconds, double step_seconds, double seconds_left) const;

 private:
  double step_start_ = 0, seconds_ = 0, waited_ = 0;
  int64_t samples_ = 0, tokens_ = 0;
};

/// The name of a value in a step line: the duration of the steps since the previous step line, without the time of
/// evaluations and checkpoints.
inline constexpr const char* kStepSeconds = "step_seconds";

/// Returns the title of "tokens_per_second": "tokens/s", or the run's own title if there are several kinds of tokens.
std::string token_rate_title(const RunDescription& run);

/// Returns the line that log.txt has for an event.
std::string event_text(const Event& event, int64_t total_steps, const RunDescription& run);

/// Returns the values that a progress bar shows: running means of metrics, learning rate, gradient norm, speed, waiting
/// for data, and memory. If samples have tokens, the progress bar shows the rate in tokens.
report::ProgressState progress_state(const TrainState& state, const RunDescription& run, double learning_rate,
                                     double gradient_norm, const StepMeter& meter);

}  // namespace cachet::train
