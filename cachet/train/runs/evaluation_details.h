#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cachet/io/files/file_system.h"

namespace cachet::train {

// evaluation.json of a run: the results of a task's last evaluation except the metrics. A resumed run shows them on its
// page.

/// `details` is JSON in the task's own format. Throws io::Error.
void write_evaluation_details(const std::filesystem::path& file, int64_t step, const std::string& details,
                              io::FileSystem& file_system = io::FileSystem::real());

/// Reads the details of the evaluation at `step`, or before it if a run was cut back. Empty if the file is missing,
/// damaged, or of a later step.
std::optional<std::string> read_evaluation_details(const std::filesystem::path& file, int64_t step);

}  // namespace cachet::train
