#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cachet/io/files/file_system.h"

namespace cachet::train {

// A run's evaluation.json has the results of the task's last evaluation, without the metrics. The page of a resumed run
// shows the results in evaluation.json.

/// Writes the details of an evaluation: `details` is JSON in the task's own format. Throws io::Error.
void write_evaluation_details(const std::filesystem::path& file, int64_t step, const std::string& details,
                              io::FileSystem& file_system = io::FileSystem::real());

/// Reads the details of the evaluation at `step`. If the run was resumed from an earlier checkpoint, the details can be
/// of a step before `step`. Returns std::nullopt if the file is missing or damaged, or belongs to a later step.
std::optional<std::string> read_evaluation_details(const std::filesystem::path& file, int64_t step);

}  // namespace cachet::train
