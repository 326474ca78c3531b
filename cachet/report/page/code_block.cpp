#include "cachet/report/page/code_block.h"

#include <string_view>

namespace cachet::report {
namespace {

// Where a comment starts: the first # outside of quotes.
size_t comment_start(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '"' && c == '\\') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return i;
    }
  }
  return line.size();
}

void draw_code_line(Markup& html, std::string_view line) {
  const std::string_view code = line.substr(0, comment_start(line));
  const size_t first = code.find_first_not_of(" \t"), equals = code.find_first_of("=\"'");
  if (first != std::string_view::npos && code[first] == '[') {
    html.element("b", {}, code);
  } else if (equals != std::string_view::npos && code[equals] == '=') {
    html.element("i", {}, code.substr(0, equals)).text(code.substr(equals));
  } else {
    html.text(code);
  }
  if (code.size() < line.size()) html.element("s", {}, line.substr(code.size()));
}

}  // namespace

void draw(Markup& html, const CodeBlock& block) {
  html.open("figure", {{"class", "code"}});
  if (!block.title.empty()) html.element("figcaption", {}, block.title);
  html.open("pre", {{"tabindex", "0"}}).open("code");
  std::string_view rest = block.text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    draw_code_line(html, line);
    html.raw("\n");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  html.close().close().close();
}

}  // namespace cachet::report
