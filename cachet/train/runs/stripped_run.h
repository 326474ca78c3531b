#pragma once

#include <filesystem>

namespace cachet::train {

/// Writes a run folder with one checkpoint that has only weights: the averaged weights if they exist. Also copies the
/// run's recipe, vocabularies and other files that affect predictions, but no optimizer, logs or pages. Throws
/// DamagedCheckpoint. If `replace` is false and the folder `into` is not empty, also throws io::Error.
void write_stripped_run(const std::filesystem::path& run, const std::filesystem::path& checkpoint,
                        const std::filesystem::path& into, bool replace = false);

/// Whether a folder contains only files of the kinds that write_stripped_run() writes (for any run).
bool is_stripped_run(const std::filesystem::path& folder);

}  // namespace cachet::train
