#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace cachet::train {

/// The command that resumes a run, or a folder of seeds: "cachet train 'my runs/first' --resume".
/// `processes` of several train it together.
std::string resume_command(const std::filesystem::path& run, int64_t processes = 1);

}  // namespace cachet::train
