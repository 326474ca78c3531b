#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cachet/io/files/file_system.h"

namespace cachet::train {

// evaluation.json of a run: the results of a task's last evaluation other than the metrics, so that a resumed run still
// shows them on its page.

/// `details` is JSON of the task's own. Throws io::Error.
void write_evaluation_details(const std::filesystem::path& file, int64_t step, const std::string& details,
                              io::FileSystem& file_system = io::FileSystem::real());

/// The details of the evaluation at `step`, or before it where a run was cut back; nothing where the file is missing,
/// damaged, or of a later step.
std::optional<std::string> read_evaluation_details(const std::filesystem::path& file, int64_t step);

}  // namespace cachet::train
