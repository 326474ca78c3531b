#include "cachet/data/vision/shards/shard_pattern.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <system_error>

#include "cachet/config/glob.h"
#include "cachet/data/folder_walk.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxShardNames = 100'000;

[[noreturn]] void refuse_pattern(std::string_view pattern, const std::string& fault) {
  throw io::Error("the pattern of shards " + io::in_quotes(pattern) + " " + fault);
}

std::optional<uint64_t> decimal(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Expands the text between two braces.
std::vector<std::string> alternatives(std::string_view inside, std::string_view pattern) {
  std::vector<std::string> all;
  if (const size_t dots = inside.find(".."); dots != std::string_view::npos) {
    const std::string_view first_text = inside.substr(0, dots);
    const auto first = decimal(first_text), last = decimal(inside.substr(dots + 2));
    if (!first || !last || *last < *first)
      refuse_pattern(pattern,
                     "has the range {" + std::string(inside) + "}; a range is {FIRST..LAST}, as in {000..015}");
    if (*last - *first >= kMaxShardNames)
      refuse_pattern(pattern, "stands for more than " + std::to_string(kMaxShardNames) + " names");
    for (uint64_t number = *first; number <= *last; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < first_text.size()) digits.insert(0, first_text.size() - digits.size(), '0');
      all.push_back(std::move(digits));
    }
    return all;
  }
  for (size_t begin = 0; begin <= inside.size();) {
    const size_t end = std::min(inside.find(',', begin), inside.size());
    all.emplace_back(inside.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

bool has_wildcard(std::string_view name) { return name.find_first_of("*?[") != std::string_view::npos; }

std::vector<std::string> matching_files(const fs::path& root, const std::string& name, std::string_view pattern) {
  const fs::path path(name);
  const fs::path folder = path.parent_path();
  if (has_wildcard(folder.native())) refuse_pattern(pattern, "has a wildcard in the name of a folder");
  std::vector<std::string> names;
  for (const auto& entry : sorted_entries(root / folder)) {
    const std::string file = entry.path().filename().string();
    if (!is_folder(entry) && !file.ends_with(".index") && config::glob_matches(path.filename().string(), file))
      names.push_back((folder / file).string());
  }
  if (names.empty()) throw io::Error((root / name).string() + ": no file matches this pattern of shards");
  return names;
}

}  // namespace

std::vector<std::string> expand_braces(std::string_view pattern) {
  std::vector<std::string> names{""};
  for (size_t begin = 0; begin < pattern.size();) {
    const size_t open = std::min(pattern.find_first_of("{}", begin), pattern.size());
    std::vector<std::string> endings{""};
    size_t next = open;
    if (open < pattern.size()) {
      const size_t close = pattern.find_first_of("{}", open + 1);
      if (pattern[open] == '}' || close == std::string_view::npos || pattern[close] == '{')
        refuse_pattern(pattern, "has a brace without a counterpart, or braces inside braces");
      endings = alternatives(pattern.substr(open + 1, close - open - 1), pattern);
      next = close + 1;
    }
    if (names.size() * endings.size() > kMaxShardNames)
      refuse_pattern(pattern, "stands for more than " + std::to_string(kMaxShardNames) + " names");
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& ending : endings)
        longer.push_back(name + std::string(pattern.substr(begin, open - begin)) + ending);
    names = std::move(longer);
    begin = next;
  }
  return names;
}

std::vector<std::string> find_shards(const fs::path& root, std::string_view pattern) {
  const fs::path path(pattern);
  if (path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end())
    refuse_pattern(pattern, "must be relative to data.root, without \"..\"");
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const std::string& name : expand_braces(pattern)) {
    std::vector<std::string> found{name};
    if (has_wildcard(name)) found = matching_files(root, name, pattern);
    for (std::string& shard : found) {
      std::error_code unreadable;
      if (!fs::is_regular_file(root / shard, unreadable))
        throw io::Error((root / shard).string() + ": there is no such shard");
      if (!seen.insert(shard).second)
        throw io::Error((root / shard).string() + ": is selected twice by the pattern " + io::in_quotes(pattern));
      all.push_back(std::move(shard));
    }
  }
  return all;
}

}  // namespace cachet::data
