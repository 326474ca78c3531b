#pragma once

#include <filesystem>
#include <string>

namespace cachet::train {

/// What a user types to go on with a run, or with a folder of seeds: "cachet train 'my runs/first' --resume".
std::string resume_command(const std::filesystem::path& run);

}  // namespace cachet::train
