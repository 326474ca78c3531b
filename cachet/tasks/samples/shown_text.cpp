#include "cachet/tasks/samples/shown_text.h"

#include <algorithm>
#include <vector>

#include "cachet/config/utf8.h"
#include "cachet/report/text/display_width.h"

namespace cachet::tasks {
namespace {

constexpr int kMaxColumns = 240;  // about three lines of a page
// A token is a byte at least, which may be a quarter of a character.
constexpr size_t kMaxTokens = 4 * kMaxColumns + 1;

}  // namespace

std::string shown_text(const std::string& text) {
  std::string shown, line;
  const auto add_line = [&] {
    shown += config::printable(line);
    line.clear();
  };
  for (const char character : text) {
    if (character != '\n') {
      line += character;
      continue;
    }
    add_line();
    shown += " ↵ ";
  }
  add_line();
  return report::fit_width(shown, kMaxColumns);
}

std::string shown_text(data::TokenView tokens, const data::TextEncoder& encoder) {
  std::vector<data::Token> beginning;
  for (size_t place = 0; place < std::min(tokens.size(), kMaxTokens); ++place) beginning.push_back(tokens[place]);
  return shown_text(encoder.decode(beginning));
}

}  // namespace cachet::tasks
