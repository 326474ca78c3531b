#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace cachet::train {

/// Returns the command that resumes a run or a folder of seeds: "cachet train 'my runs/first' --resume". `processes` is
/// the number of processes that train the run together.
std::string resume_command(const std::filesystem::path& run, int64_t processes = 1);

}  // namespace cachet::train
