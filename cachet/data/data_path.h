#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cachet::data {

enum class PathKind { folder, file, file_or_folder };

/// Whether a recipe must name the folder of its data. The recipe of a model alone has no such folder.
enum class DataRoot { required, optional };

/// Finds a path of a recipe or an argument: an absolute path itself, else the path below `working_folder`, else below
/// $CACHET_DATA (of "data/fashion-mnist" also fashion-mnist), else data/fashion-mnist that comes with the program.
/// Returns nothing if none of these exists.
std::optional<std::filesystem::path> existing_data_path(const std::filesystem::path& value, PathKind kind,
                                                        const std::filesystem::path& working_folder);

/// Returns the same for a path that must be given and must exist. Throws io::Error that names the key
/// ("data.root" or "--train") and the paths that were tried, and ends with `hint`, such as "it should hold
/// a.tsv".
std::filesystem::path find_data_path(const std::string& key, const std::filesystem::path& value, PathKind kind,
                                     const std::filesystem::path& working_folder, const std::string& hint);

}  // namespace cachet::data
