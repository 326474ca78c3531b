#include "cachet/config/glob.h"

#include <optional>

namespace cachet::config {
namespace {

struct OneCharacter {
  bool matches = false;
  size_t length = 1;  // of the pattern
};

/// A set at the start of `pattern`, "[a-z]"; nothing when its bracket is never closed, which makes '[' a plain
/// character.
std::optional<OneCharacter> match_set(std::string_view pattern, char character) {
  const bool negated = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
  const size_t first = negated ? 2 : 1;
  bool inside = false;
  for (size_t i = first; i < pattern.size(); ++i) {
    if (pattern[i] == ']' && i > first) return OneCharacter{inside != negated, i + 1};
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      inside = inside || (pattern[i] <= character && character <= pattern[i + 2]);
      i += 2;
    } else {
      inside = inside || pattern[i] == character;
    }
  }
  return std::nullopt;
}

OneCharacter match_one(std::string_view pattern, char character) {
  if (pattern[0] == '?') return {true, 1};
  if (pattern[0] == '\\' && pattern.size() > 1) return {pattern[1] == character, 2};
  if (pattern[0] == '[') {
    if (const auto set = match_set(pattern, character)) return *set;
  }
  return {pattern[0] == character, 1};
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view name) {
  // Only the last star ever needs another try, so the time is at most the product of the lengths.
  size_t p = 0;
  size_t n = 0;
  std::optional<size_t> star;
  size_t star_end = 0;  // the star stands for the name up to here
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = n;
      continue;
    }
    if (p < pattern.size()) {
      const OneCharacter one = match_one(pattern.substr(p), name[n]);
      if (one.matches) {
        p += one.length;
        ++n;
        continue;
      }
    }
    if (!star) return false;
    p = *star + 1;
    n = ++star_end;
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> glob_filter(std::string_view pattern, std::span<const std::string> names) {
  std::vector<std::string> matching;
  for (const std::string& name : names) {
    if (pattern.empty() || glob_matches(pattern, name)) matching.push_back(name);
  }
  return matching;
}

}  // namespace cachet::config
