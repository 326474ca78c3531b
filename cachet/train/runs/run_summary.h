#pragma once

#include <filesystem>
#include <vector>

#include "cachet/train/runs/event_log.h"

namespace cachet::train {

/// Writes a table with one line for each evaluation: step, epoch, the metrics, and the training metrics since the
/// previous evaluation.
void write_summary(const std::filesystem::path& path, const std::vector<Event>& events);

}  // namespace cachet::train
