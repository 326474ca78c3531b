#pragma once

#include <cstdint>
#include <string>

#include "cachet/analysis/statistics.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// How long a model in float32 and its export take for the same made-up samples, timed in turns in one process.
struct ExportSpeed {
  int64_t batch = 0;                                       // samples at once
  int64_t pairs = 0;                                       // of timings: one of each, one right behind the other
  double model_milliseconds = 0, export_milliseconds = 0;  // of a batch, the medians
  analysis::Quartiles times_as_fast;                       // the model's time by the export's, pair by pair
};

/// Times both on the CPU for about a second and a half: batches of 8, of 1 where a batch of 8 would take longer than an
/// eighth of a second or so, and of slow models a single pair behind the warm-up. The process's random state stays.
ExportSpeed compare_speed(const SavedRun& model, const SavedRun& exported);

/// "1.32 times as fast as the model (quartiles 1.29 to 1.35): 12.1 ms instead of 16 ms for a batch of 8".
std::string to_text(const ExportSpeed& speed);

}  // namespace cachet::tasks
