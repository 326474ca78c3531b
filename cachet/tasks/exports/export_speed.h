#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// The times of a float32 model and of its export on the same synthetic samples, measured in turns in one process.
struct ExportSpeed {
  int64_t batch = 0;                                       // number of samples in a batch
  int64_t pairs = 0;                                       // number of pairs of timings: model and export in succession
  double model_milliseconds = 0, export_milliseconds = 0;  // median times of a batch
  analysis::Quartiles times_as_fast;                       // model's time / export's time, pair by pair

  /// Whether the ratios (model's time / export's time) vary so little that the speeds can be compared: the upper
  /// quartile is at most twice the lower. If the machine also does other work, the ratios vary too much.
  bool is_comparable() const { return times_as_fast.upper <= 2 * times_as_fast.lower; }
};

/// The functions with which speeds are measured: two functions that run a batch and return the time in seconds, and a
/// clock in seconds.
struct SpeedClocks {
  std::function<double()> model, exported, now;
};

/// Measures model and export alternately on a batch. Stops after 40 pairs of times, or after 1.5 s if at least one pair
/// is complete. If the ratios are not comparable, measures again with the same limits, at most three times.
ExportSpeed timed_in_turns(const SpeedClocks& clocks, int64_t batch);

/// Measures the times of a model and its export on the CPU with timed_in_turns(). A batch has 8 samples, or 1 if a
/// batch of 8 would take longer than about an eighth of a second. The measurement does not change the random state of
/// the process.
ExportSpeed compare_speed(const SavedRun& model, const SavedRun& exported);

/// Returns "1.32 times as fast as the model (quartiles 1.29 to 1.35): 12.1 ms instead of 16 ms for a batch of 8", or
/// "slower than the model: it takes 1.30 times as long (…)". If the speeds are not comparable, the returned text states
/// that the machine was too busy.
std::string to_text(const ExportSpeed& speed);

}  // namespace cachet::tasks
