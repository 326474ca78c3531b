#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report::test {

/// What keeps `markup` from being well-formed, or nothing: tags that do not match, text outside of the rules for `<`,
/// `&` and quotes. Style and script elements of HTML are raw text and skipped; so are <!DOCTYPE> and void elements.
inline std::string markup_error(std::string_view markup) {
  std::vector<std::string> open;
  size_t at = 0;
  const auto place = [&](const std::string& what) {
    return what + " at byte " + std::to_string(at) + ": " + std::string(markup.substr(at > 30 ? at - 30 : 0, 80));
  };
  const auto check_references = [&](std::string_view text) {
    for (size_t i = text.find('&'); i != std::string_view::npos; i = text.find('&', i + 1)) {
      const std::string_view rest = text.substr(i, 10);
      bool known = false;
      for (std::string_view name : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) known |= rest.starts_with(name);
      if (!known) return false;
    }
    return true;
  };
  while (at < markup.size()) {
    const size_t tag = std::min(markup.find('<', at), markup.size());
    const std::string_view text = markup.substr(at, tag - at);
    if (!check_references(text)) return place("a bare & in text");
    if (open.empty() && text.find_first_not_of(" \n") != std::string_view::npos)
      return place("text outside of the root");
    at = tag;
    if (at == markup.size()) break;
    size_t end = at;
    char quote = 0;
    for (; end < markup.size() && (quote != 0 || markup[end] != '>'); ++end) {
      const char c = markup[end];
      if (c == '"' || c == '\'') quote = quote == 0 ? c : quote == c ? 0 : quote;
      if (c == '<' && end != at) return place("< inside a tag");
    }
    if (end == markup.size()) return place("a tag without end");
    const std::string_view inner = markup.substr(at + 1, end - at - 1);
    if (!check_references(inner)) return place("a bare & in an attribute");
    const std::string name(inner.substr(0, inner.find_first_of(" /", 1)));
    if (name.empty()) return place("a tag without name");
    if (name[0] == '/') {
      if (open.empty() || "/" + open.back() != name) return place("<" + name + "> closes nothing");
      open.pop_back();
    } else if (name[0] != '!' && inner.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
    if (name == "style" || name == "script") {
      at = markup.find("</" + name, at);
      if (at == std::string_view::npos) return name + " without end";
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace cachet::report::test
