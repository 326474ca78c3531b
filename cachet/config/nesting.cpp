#include "cachet/config/nesting.h"

#include <algorithm>

namespace cachet::config {
namespace {

/// The index after the string that begins at `start` with a quotation mark of either kind. One that is never closed
/// ends with its line, or with the text when it is of several lines; the parser reports it.
size_t skip_string(std::string_view toml, size_t start) {
  const char mark = toml[start];
  const bool escapes = mark == '"';
  const auto marks = [&](size_t i) {
    size_t count = 0;
    while (i + count < toml.size() && toml[i + count] == mark) ++count;
    return count;
  };
  const bool several_lines = marks(start) >= 3;
  size_t i = start + (several_lines ? 3 : 1);
  while (i < toml.size()) {
    if (!several_lines && toml[i] == '\n') return i;
    if (toml[i] == mark) {
      if (!several_lines) return i + 1;
      const size_t count = marks(i);
      if (count >= 3) return i + std::min<size_t>(count, 5);  // up to two marks may stand before the closing three
      i += count;
    } else if (escapes && toml[i] == '\\' && i + 1 < toml.size() && toml[i + 1] != '\n') {
      i += 2;
    } else {
      ++i;
    }
  }
  return i;
}

}  // namespace

std::optional<int64_t> line_nested_too_deep(std::string_view toml) {
  int64_t line = 1;
  int64_t brackets = 0;
  int64_t dots = 0;  // since the last character that ends a key
  for (size_t i = 0; i < toml.size();) {
    const char character = toml[i];
    if (character == '"' || character == '\'') {
      const size_t end = skip_string(toml, i);
      line += std::ranges::count(toml.substr(i, end - i), '\n');
      i = end;
      continue;
    }
    if (character == '#') {
      i = std::min(toml.find('\n', i), toml.size());
      continue;
    }
    if (character == '[' || character == '{') {
      ++brackets;
      dots = 0;
    } else if (character == ']' || character == '}') {
      brackets = std::max<int64_t>(brackets - 1, 0);
      dots = 0;
    } else if (character == '=' || character == ',') {
      dots = 0;
    } else if (character == '\n') {
      ++line;
      dots = 0;
    } else if (character == '.') {
      ++dots;
    }
    if (brackets > kMaxNesting || dots >= kMaxNesting) return line;
    ++i;
  }
  return std::nullopt;
}

}  // namespace cachet::config
