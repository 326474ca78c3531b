#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// The times of a model in float32 and its export for the same synthetic samples, measured in turns in one process.
struct ExportSpeed {
  int64_t batch = 0;                                       // samples at once
  int64_t pairs = 0;                                       // timings of model and export in immediate succession
  double model_milliseconds = 0, export_milliseconds = 0;  // median times of a batch
  analysis::Quartiles times_as_fast;                       // the model's time divided by the export's, pair by pair

  /// Whether the ratios show which of both is faster, and by how much: whether the upper quartile is at most twice the
  /// lower. If it is not, the machine was also doing other work.
  bool is_comparable() const { return times_as_fast.upper <= 2 * times_as_fast.lower; }
};

/// The sources of times: functions that run a batch and return its seconds, and a clock in seconds.
struct SpeedClocks {
  std::function<double()> model, exported, now;
};

/// Times a batch of the model and of the export in turns for 1.5 s, with one to forty pairs. While the ratios are not
/// comparable, repeats this with the same time and number of pairs, at most three times.
ExportSpeed timed_in_turns(const SpeedClocks& clocks, int64_t batch);

/// Times a model and its export on the CPU, as timed_in_turns() does. A batch has 8 samples, or 1 if a batch of 8 would
/// take longer than about an eighth of a second. The random state of the process stays the same.
ExportSpeed compare_speed(const SavedRun& model, const SavedRun& exported);

/// Returns "1.32 times as fast as the model (quartiles 1.29 to 1.35): 12.1 ms instead of 16 ms for a batch of 8", or
/// "slower than the model: it takes 1.30 times as long (…)". If the speeds are not comparable, states that the machine
/// was too busy.
std::string to_text(const ExportSpeed& speed);

}  // namespace cachet::tasks
