#pragma once

#include <filesystem>

namespace cachet::train {

/// Writes a run folder with one checkpoint that has only weights, the averaged ones if there are such. Copies the other
/// files that commands need to read a run: the recipe and the run's data files, without optimizer, logs and pages.
/// Throws DamagedCheckpoint, and io::Error if `into` is not empty, unless `replace`.
void write_stripped_run(const std::filesystem::path& run, const std::filesystem::path& checkpoint,
                        const std::filesystem::path& into, bool replace = false);

/// Whether a folder is such a run, of any original, without other files.
bool is_stripped_run(const std::filesystem::path& folder);

}  // namespace cachet::train
