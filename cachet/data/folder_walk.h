#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cachet::data {

/// Whether a name ends in .jpg, .jpeg, .jpe, .jfif or .png, in any case.
bool has_image_name(const std::filesystem::path& path);

/// Whether it ends in .txt, in any case.
bool has_text_name(const std::filesystem::path& path);

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

/// Text files, and how many files of other kinds lie among them.
struct FoundTexts {
  std::vector<std::filesystem::path> files{};
  int64_t others = 0;
  std::filesystem::path first_other{};

  void add(FoundTexts more);
  /// A line for the user about the others, if there are some.
  std::optional<std::string> note() const;
};

/// The .txt files among those of for_each_file_below. Throws io::Error as it does, and if there are none.
FoundTexts text_files_below(const std::filesystem::path& folder);

}  // namespace cachet::data
