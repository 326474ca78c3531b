#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cachet::data {

/// Whether a name ends in .jpg, .jpeg, .jpe, .jfif or .png, in any case.
bool has_image_name(const std::filesystem::path& path);

/// Whether it ends in .txt, in any case.
bool has_text_name(const std::filesystem::path& path);

/// Files in the folders of a data set that its reader does not use.
class PassedOver {
 public:
  /// What the reader uses, of one and of several files: "a .txt file", ".txt files".
  PassedOver(std::string one, std::string many) : one_(std::move(one)), many_(std::move(many)) {}

  /// Adds a file or folder whose name begins with a dot.
  void add_hidden(const std::filesystem::path& path) { add(hidden_, path); }
  /// Adds a file of another kind than the reader uses.
  void add_other(const std::filesystem::path& path) { add(others_, path); }
  void add(const PassedOver& more);

  int64_t count() const { return hidden_ + others_; }
  /// Only if count() > 0.
  const std::filesystem::path& first() const { return first_; }
  /// A line for the user; nothing if there are no such files.
  std::optional<std::string> note() const;

 private:
  void add(int64_t& count, const std::filesystem::path& path);

  std::string one_, many_;
  int64_t hidden_ = 0, others_ = 0;
  std::filesystem::path first_;
};

/// The entries of a folder whose names do not begin with a dot, sorted byte by byte; `passed_over` gets the others.
/// Throws io::Error where it cannot be read.
std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& folder,
                                                             PassedOver* passed_over = nullptr);

/// Whether it is a folder or a link to one.
bool is_folder(const std::filesystem::directory_entry& entry);

/// Called with a file and its name below the folder, "a/b.png".
using UseFile = std::function<void(const std::filesystem::path& file, const std::string& name)>;

/// Goes through the files below a folder, at any depth up to 8, in the order of their names; `passed_over` gets hidden
/// ones. Throws io::Error for folders nested deeper, which a circle of links is too.
void for_each_file_below(const std::filesystem::path& folder, const UseFile& use, PassedOver* passed_over = nullptr);

/// Text files, and the files that lie among them.
struct FoundTexts {
  std::vector<std::filesystem::path> files{};
  PassedOver passed_over{"a .txt file", ".txt files"};

  void add(FoundTexts more);
};

/// The .txt files among those of for_each_file_below. Throws io::Error as it does, and if there are none.
FoundTexts text_files_below(const std::filesystem::path& folder);

}  // namespace cachet::data
