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
  int64_t pairs = 0;                                       // of timings: one of each, one right after the other
  double model_milliseconds = 0, export_milliseconds = 0;  // of a batch, the medians
  analysis::Quartiles times_as_fast;                       // the model's time by the export's, pair by pair

  /// Whether the ratios show which of both is faster, and by how much: the upper quartile is at most twice the lower.
  /// Otherwise the machine had other work.
  bool is_comparable() const { return times_as_fast.upper <= 2 * times_as_fast.lower; }
};

/// Where times come from: the seconds that a batch takes, and those that a clock shows.
struct SpeedClocks {
  std::function<double()> model, exported, now;
};

/// Times a batch of both in turns for a second and a half, forty pairs at most, and once at least. While the ratios are
/// not comparable, it continues for the same time and number of pairs again, three times at most.
ExportSpeed timed_in_turns(const SpeedClocks& clocks, int64_t batch);

/// Times both on the CPU, as timed_in_turns() does: batches of 8, or of 1 if a batch of 8 would take longer than an
/// eighth of a second or so. The process's random state stays.
ExportSpeed compare_speed(const SavedRun& model, const SavedRun& exported);

/// "1.32 times as fast as the model (quartiles 1.29 to 1.35): 12.1 ms instead of 16 ms for a batch of 8", or "slower
/// than the model: it takes 1.30 times as long (…)", or, if the speeds are not comparable, that the machine was too
/// busy.
std::string to_text(const ExportSpeed& speed);

}  // namespace cachet::tasks
