#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cachet::data {

enum class PathKind { folder, file, file_or_folder };

/// Whether a recipe must name the folder of its data. The recipe of a model alone does not know it.
enum class DataRoot { required, optional };

/// What a path in a recipe or an argument means: itself when absolute, else below `working_folder`, else below
/// $CACHET_DATA, and of "data/fashion-mnist" fashion-mnist below it too; last, data/fashion-mnist that comes with the
/// program. Nothing where none of these exists.
std::optional<std::filesystem::path> existing_data_path(const std::filesystem::path& value, PathKind kind,
                                                        const std::filesystem::path& working_folder);

/// The same, for a path that must be given and exist.
/// Throws io::Error that names the key, "data.root" or "--train", and the paths that were tried, and ends with `hint`:
/// "it should hold a.tsv".
std::filesystem::path find_data_path(const std::string& key, const std::filesystem::path& value, PathKind kind,
                                     const std::filesystem::path& working_folder, const std::string& hint);

}  // namespace cachet::data
