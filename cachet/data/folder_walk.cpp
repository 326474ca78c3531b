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

constexpr int kMaxDepth = 8;

std::string small_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return c < 0x80 ? std::tolower(c) : c; });
  return ending;
}

void go_through(const fs::path& folder, const std::string& prefix, int depth, const UseFile& use,
                PassedOver* passed_over) {
  for (const auto& entry : sorted_entries(folder, passed_over)) {
    const std::string name = prefix + entry.path().filename().string();
    if (!is_folder(entry)) {
      use(entry.path(), name);
      continue;
    }
    if (depth == kMaxDepth) throw io::Error(entry.path().string() + ": has too many levels of folders");
    go_through(entry.path(), name + "/", depth + 1, use, passed_over);
  }
}

}  // namespace

bool has_image_name(const fs::path& path) {
  static constexpr std::array<std::string_view, 5> kEndings{".jpg", ".jpeg", ".jpe", ".jfif", ".png"};
  return std::ranges::find(kEndings, small_ending(path)) != kEndings.end();
}

bool has_text_name(const fs::path& path) { return small_ending(path) == ".txt"; }

void PassedOver::add(int64_t& count, const fs::path& path) {
  if (this->count() == 0) first_ = path;
  ++count;
}

void PassedOver::add(const PassedOver& more) {
  if (count() == 0) first_ = more.first_;
  hidden_ += more.hidden_;
  others_ += more.others_;
}

std::optional<std::string> PassedOver::note() const {
  if (count() == 0) return std::nullopt;
  const std::string number = std::to_string(count());
  if (count() == 1)
    return (hidden_ == 1 ? "1 hidden file was" : "1 file that is not " + one_ + " was") +
           " skipped: " + first_.string();
  std::string text = others_ == 0   ? number + " hidden files were skipped"
                     : hidden_ == 0 ? number + " files that are not " + many_ + " were skipped"
                                    : number + " files were skipped (" + std::to_string(hidden_) + " hidden, " +
                                          std::to_string(others_) + " not " + many_ + ")";
  return text + ". The first one is " + first_.string();
}

std::string and_others(int64_t others) {
  if (others < 1) return "";
  return others == 1 ? " (and neither is 1 other)" : " (and neither are " + std::to_string(others) + " others)";
}

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder, PassedOver* passed_over) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  std::vector<fs::path> hidden;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().native().starts_with('.'))
      entries.push_back(*entry);
    else if (passed_over)
      hidden.push_back(entry->path());
  }
  if (error) throw io::Error(folder.string() + ": the folder cannot be read: " + error.message());
  std::ranges::sort(hidden, {}, &fs::path::native);
  for (const fs::path& path : hidden) passed_over->add_hidden(path);
  std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().native(); });
  return entries;
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code unreadable;  // a link that leads nowhere is a file that cannot be used
  return entry.is_directory(unreadable);
}

void for_each_file_below(const fs::path& folder, const UseFile& use, PassedOver* passed_over) {
  go_through(folder, "", 0, use, passed_over);
}

FoundTexts text_files_below(const fs::path& folder) {
  FoundTexts found;
  const auto use = [&](const fs::path& file, const std::string&) {
    if (has_text_name(file))
      found.files.push_back(file);
    else
      found.passed_over.add_other(file);
  };
  for_each_file_below(folder, use, &found.passed_over);
  if (found.files.empty()) throw io::Error(folder.string() + ": holds no .txt files");
  return found;
}

void FoundTexts::add(FoundTexts more) {
  std::ranges::move(more.files, std::back_inserter(files));
  passed_over.add(more.passed_over);
}

}  // namespace cachet::data
