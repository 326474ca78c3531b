#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cachet::data {

enum class PathKind { folder, file, file_or_folder };

/// Whether a recipe must name the folder of its data. A recipe that only defines a model has no folder of data.
enum class DataRoot { required, optional };

/// Finds the file or folder of a path in a recipe or an argument. If the path is absolute, no other path is tried. A
/// relative path is tried below `working_folder`, then below $CACHET_DATA (there also without a leading "data/"), and
/// last among the data that come with the program, such as data/fashion-mnist. If none of the tried paths exists,
/// returns std::nullopt.
std::optional<std::filesystem::path> existing_data_path(const std::filesystem::path& value, PathKind kind,
                                                        const std::filesystem::path& working_folder);

/// Finds a path by the rules of existing_data_path(). If the path is empty or does not exist, throws io::Error. The
/// error names the key ("data.root" or "--train") and the paths that were tried, and ends with `hint`, such as "it
/// should hold a.tsv".
std::filesystem::path find_data_path(const std::string& key, const std::filesystem::path& value, PathKind kind,
                                     const std::filesystem::path& working_folder, const std::string& hint);

}  // namespace cachet::data
