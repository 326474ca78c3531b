#include "cachet/data/folder_walk.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 8;

std::string small_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return c < 0x80 ? std::tolower(c) : c; });
  return ending;
}

void go_through(const fs::path& folder, const std::string& prefix, int depth, const UseFile& use) {
  for (const auto& entry : sorted_entries(folder)) {
    const std::string name = prefix + entry.path().filename().string();
    if (!is_folder(entry)) {
      use(entry.path(), name);
      continue;
    }
    if (depth == kMostDepth) throw io::Error(entry.path().string() + ": folders are nested too deep");
    go_through(entry.path(), name + "/", depth + 1, use);
  }
}

}  // namespace

bool has_image_name(const fs::path& path) {
  static constexpr std::array<std::string_view, 5> kEndings{".jpg", ".jpeg", ".jpe", ".jfif", ".png"};
  return std::ranges::find(kEndings, small_ending(path)) != kEndings.end();
}

bool has_text_name(const fs::path& path) { return small_ending(path) == ".txt"; }

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().native().starts_with('.')) entries.push_back(*entry);
  }
  if (error) throw io::Error(folder.string() + ": the folder cannot be read: " + error.message());
  std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().native(); });
  return entries;
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code unreadable;  // a link that leads nowhere is a file that cannot be used
  return entry.is_directory(unreadable);
}

void for_each_file_below(const fs::path& folder, const UseFile& use) { go_through(folder, "", 0, use); }

FoundTexts text_files_below(const fs::path& folder) {
  FoundTexts found;
  for_each_file_below(folder, [&](const fs::path& file, const std::string&) {
    if (has_text_name(file))
      found.files.push_back(file);
    else if (found.others++ == 0)
      found.first_other = file;
  });
  if (found.files.empty()) throw io::Error(folder.string() + ": holds no .txt files");
  return found;
}

void FoundTexts::add(FoundTexts more) {
  std::ranges::move(more.files, std::back_inserter(files));
  if (others == 0) first_other = std::move(more.first_other);
  others += more.others;
}

std::optional<std::string> FoundTexts::note() const {
  if (others == 0) return std::nullopt;
  return (others == 1
              ? "1 file that is not a .txt file was passed over: "
              : std::to_string(others) + " files that are not .txt files were passed over, the first of them ") +
         first_other.string();
}

}  // namespace cachet::data
