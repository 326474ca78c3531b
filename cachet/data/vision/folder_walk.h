#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace cachet::data {

/// Whether a name ends in .jpg, .jpeg, .jpe, .jfif or .png, in any case.
bool has_image_name(const std::filesystem::path& path);

/// The entries of a folder whose names do not begin with a dot, sorted byte by byte. Throws io::Error where it cannot
/// be read.
std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& folder);

/// Whether it is a folder or a link to one.
bool is_folder(const std::filesystem::directory_entry& entry);

/// Called with a file and its name below the folder, "a/b.png".
using UseFile = std::function<void(const std::filesystem::path& file, const std::string& name)>;

/// Goes through the files below a folder, at any depth up to 8, in the order of their names. Throws io::Error for
/// folders nested deeper, which a circle of links is too.
void for_each_file_below(const std::filesystem::path& folder, const UseFile& use);

}  // namespace cachet::data
