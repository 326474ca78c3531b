#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cachet/train/runs/run_folder.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Returns the text of status.json: the progress of a run, written at its start, at each evaluation and at every kind
/// of ending. If the run's process was killed, the file still has the state "running".
std::string to_json(const Status& status);

/// Reads a status, or returns std::nullopt if the file is missing or damaged. Throws io::NewerSchema.
std::optional<Status> read_status(const std::filesystem::path& file);

/// Returns the status in a run's folder, or `killed` if the file has "running" and no process trains the run. Returns
/// std::nullopt if the file is missing. If the file is damaged, the run's status cannot be known, and the function
/// throws io::Error.
std::optional<Status> current_status(const RunFolder& folder);

/// Whether a run has ended for good: it was finished or stopped early.
bool is_complete(const Status& status);

/// Returns "running", or the name of the ending: "finished", "interrupted".
std::string state_word(const Status& status);

/// Returns "finished", "stopped early at step 20 of 36", "running at step 20 of 36" or "killed at step 20 of 36".
std::string to_text(const Status& status);

}  // namespace cachet::train
