#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cachet::data {

/// Whether a file name ends in .jpg, .jpeg, .jpe, .jfif or .png, in upper or lower case.
bool has_image_name(const std::filesystem::path& path);

/// Whether a file name ends in .txt, in upper or lower case.
bool has_text_name(const std::filesystem::path& path);

/// Counts the unused files in a data set's folders: files that the data set's reader ignores.
class PassedOver {
 public:
  /// Takes the singular and the plural of the noun for the files that the reader uses: "a .txt file", ".txt files".
  PassedOver(std::string one, std::string many) : one_(std::move(one)), many_(std::move(many)) {}

  /// Counts an ignored file or folder whose name begins with a dot.
  void add_hidden(const std::filesystem::path& path) { add(hidden_, path); }
  /// Counts a file whose type the reader of the data set does not use.
  void add_other(const std::filesystem::path& path) { add(others_, path); }
  void add(const PassedOver& more);

  int64_t count() const { return hidden_ + others_; }
  /// Returns the first unused file. Call first() only if count() > 0.
  const std::filesystem::path& first() const { return first_; }
  /// Returns a line for the user about the unused files, or std::nullopt if there are none.
  std::optional<std::string> note() const;

 private:
  void add(int64_t& count, const std::filesystem::path& path);

  std::string one_, many_;
  int64_t hidden_ = 0, others_ = 0;
  std::filesystem::path first_;
};

/// Returns " (and neither is 1 other)" or " (and neither are 3 others)" for an error that names the first of several
/// entries; an empty text if there is no other.
std::string and_others(int64_t others);

/// Returns the entries of a folder whose names do not begin with a dot, sorted byte by byte. If `passed_over` is given,
/// adds to it the entries whose names begin with a dot. Throws io::Error if the folder cannot be read.
std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& folder,
                                                             PassedOver* passed_over = nullptr);

/// Whether an entry is a folder or a link to a folder.
bool is_folder(const std::filesystem::directory_entry& entry);

/// A function that receives a file and its name relative to the folder, such as "a/b.png".
using UseFile = std::function<void(const std::filesystem::path& file, const std::string& name)>;

/// Calls `use` for the files below a folder, in the order of their names, down to 8 levels. Adds hidden files to
/// `passed_over`. Throws io::Error if folders are nested more than 8 levels deep, as in a cycle of links.
void for_each_file_below(const std::filesystem::path& folder, const UseFile& use, PassedOver* passed_over = nullptr);

/// The text files that were found in a folder, and a count of the folder's unused files.
struct FoundTexts {
  std::vector<std::filesystem::path> files{};
  PassedOver passed_over{"a .txt file", ".txt files"};

  void add(FoundTexts more);
};

/// Finds the .txt files below a folder. Throws io::Error if the folder has no .txt file, or if for_each_file_below()
/// fails.
FoundTexts text_files_below(const std::filesystem::path& folder);

}  // namespace cachet::data
