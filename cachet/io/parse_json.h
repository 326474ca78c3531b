#pragma once

#include <string_view>

namespace cachet::io {

/// Whether a text, were it JSON, has objects and arrays within each other beyond so many levels.
bool nests_deeper_than(std::string_view json, int levels);

/// Parses text that others may have written, with nlohmann's parser. Its functions call themselves for what they copy
/// or print, so that deep nesting ends the process: what nests beyond 64 levels is taken as no JSON. Throws
/// Json::parse_error, or, with `throws` false, gives a discarded value.
template <class Json>
Json parse_json(std::string_view text, bool throws = true) {
  constexpr int kMostLevels = 64;
  return Json::parse(nests_deeper_than(text, kMostLevels) ? std::string_view() : text, nullptr, throws);
}

}  // namespace cachet::io
