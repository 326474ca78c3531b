#include "cachet/report/page/markup.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cachet/report/format.h"
#include "cachet/report/text/display_width.h"

namespace cachet::report {

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const char32_t c = take_code_point(text);
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        const bool forbidden = (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F || c == 0xFFFE || c == 0xFFFF;
        append_code_point(safe, forbidden ? 0xFFFD : c);
    }
  }
  return safe;
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = format_fixed(value, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void Markup::start(std::string_view tag, Attributes attributes) {
  markup_.append("<").append(tag);
  for (const Attribute& attribute : attributes) {
    markup_.append(" ").append(attribute.name).append("=\"").append(escaped(attribute.value)).append("\"");
  }
}

Markup& Markup::open(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  markup_ += '>';
  open_.emplace_back(tag);
  return *this;
}

Markup& Markup::close() {
  if (open_.empty()) throw std::logic_error("Markup::close: no element is open");
  markup_.append("</").append(open_.back()).append(">");
  open_.pop_back();
  return *this;
}

Markup& Markup::text(std::string_view text) {
  markup_ += escaped(text);
  return *this;
}

Markup& Markup::breakable(std::string_view whole) {
  constexpr size_t longest_unbroken = 10;
  size_t begin = 0;
  bool is_long = std::min(whole.find(' '), whole.size()) > longest_unbroken;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (size_t i = 1; i < whole.size(); ++i) {
    const char before = whole[i - 1];
    if (before == ' ') is_long = std::min(whole.find(' ', i), whole.size()) - i > longest_unbroken;
    if (!is_long || (before != '.' && before != '_' && before != '/') || !is_letter(whole[i])) continue;
    text(whole.substr(begin, i - begin)).raw("<wbr/>");
    begin = i;
  }
  return text(whole.substr(begin));
}

Markup& Markup::element(std::string_view tag, Attributes attributes, std::string_view content) {
  return open(tag, attributes).text(content).close();
}

Markup& Markup::paragraph(std::string_view css_class, std::string_view whole) {
  open("p", {{"class", css_class}});
  while (true) {
    const size_t begin = whole.find('`');
    const size_t end = begin == std::string_view::npos ? begin : whole.find('`', begin + 1);
    if (end == std::string_view::npos) return text(whole).close();
    text(whole.substr(0, begin)).element("code", {}, whole.substr(begin + 1, end - begin - 1));
    whole.remove_prefix(end + 1);
  }
}

Markup& Markup::empty(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  markup_ += "/>";
  return *this;
}

Markup& Markup::raw(std::string_view markup) {
  markup_ += markup;
  return *this;
}

const std::string& Markup::str() const {
  if (!open_.empty()) throw std::logic_error("Markup::str: <" + open_.back() + "> is still open");
  return markup_;
}

}  // namespace cachet::report
