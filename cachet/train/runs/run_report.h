#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Writes report.html of a run: state, curves of all metrics, learning rate, gradient norm and machine, what `sections`
/// hold, recipe and environment. The same for every task: what metrics are, the run's description says. Throws
/// io::Error.
void write_run_report(const RunFolder& folder, const RunDescription& run, const Status& status,
                      const std::vector<Event>& events, std::vector<report::Section> sections);

}  // namespace cachet::train
