#pragma once

#include <filesystem>

namespace cachet::train {

/// Writes a run folder with one checkpoint of weights alone, the averaged ones where it has them, and the other files
/// that commands need to read a run: the recipe and the run's data files, without optimizer, logs and pages. Throws
/// DamagedCheckpoint, and io::Error where `into` holds something, unless it is to be replaced.
void write_stripped_run(const std::filesystem::path& run, const std::filesystem::path& checkpoint,
                        const std::filesystem::path& into, bool replace = false);

/// Whether a folder is such a run, whichever it is of, and nothing else is in it.
bool is_stripped_run(const std::filesystem::path& folder);

}  // namespace cachet::train
