#include "cachet/report/text/wrapping.h"

#include <algorithm>

#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

constexpr size_t kMinPart = 4;  // letters on either side of a slash: "images/s" stays whole

struct Word {
  std::string_view text;
  bool follows_blank;
};

// A word, or a part of a path with the slash after it.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return words;
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    bool follows_blank = true;
    for (size_t slash = word.find('/'); slash != std::string_view::npos;) {
      if (slash < kMinPart || word.size() - slash <= kMinPart) {
        slash = word.find('/', slash + 1);
        continue;
      }
      words.push_back({word.substr(0, slash + 1), follows_blank});
      follows_blank = false;
      word.remove_prefix(slash + 1);
      slash = word.find('/');
    }
    words.push_back({word, follows_blank});
  }
}

// The beginning of a word that is too wide: as far as its last sign that fits, else as much as fits, a letter at least.
std::string_view fitting_part(std::string_view word, int columns) {
  size_t all = 0, behind_sign = 0;
  int width = 0;
  for (std::string_view rest = word; !rest.empty();) {
    const char first = rest.front();
    width += display_width(take_code_point(rest));
    if (width > columns && all > 0) break;
    all = word.size() - rest.size();
    if (std::string_view("_-.,:;=").find(first) != std::string_view::npos) behind_sign = all;
  }
  return word.substr(0, behind_sign > 0 ? behind_sign : all);
}

}  // namespace

std::vector<std::string> wrapped_lines(std::string_view text, int columns) {
  std::vector<std::string> lines(1);
  int width = 0;
  for (Word word : words_of(text)) {
    int own = display_width(word.text);
    const int blank = word.follows_blank && width > 0 ? 1 : 0;
    if (width + blank + own <= columns) {
      lines.back().append(blank, ' ').append(word.text);
      width += blank + own;
      continue;
    }
    if (width > 0) lines.emplace_back();
    for (; own > columns; own = display_width(word.text)) {
      const std::string_view part = fitting_part(word.text, columns);
      word.text.remove_prefix(part.size());
      lines.back() = part;
      if (word.text.empty()) break;
      lines.emplace_back();
    }
    lines.back() += word.text;
    width = own;
  }
  return lines;
}

int widest_word(std::string_view text) {
  int widest = 0;
  for (const Word& word : words_of(text)) widest = std::max(widest, display_width(word.text));
  return widest;
}

}  // namespace cachet::report
