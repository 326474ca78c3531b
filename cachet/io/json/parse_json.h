#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// Whether a text, were it JSON, has objects and arrays within each other beyond so many levels.
bool nests_deeper_than(std::string_view json, int levels);

/// Sees what a parser finds, and whether a key stands twice in one object: readers differ in which one they keep.
template <class Json>
class KeysOfObjects {
 public:
  bool operator()(int /*depth*/, typename Json::parse_event_t event, Json& parsed) {
    using Event = typename Json::parse_event_t;
    if (event == Event::object_start) open_.emplace_back();
    if (event == Event::object_end) open_.pop_back();
    if (event == Event::key) repeated_ |= !open_.back().insert(parsed.template get<std::string>()).second;
    return true;
  }
  bool repeated() const { return repeated_; }

 private:
  std::vector<std::set<std::string>> open_;
  bool repeated_ = false;
};

/// Parses text that others may have written, with nlohmann's parser. Its functions call themselves for what they copy
/// or print, so that deep nesting ends the process: what nests beyond 64 levels is taken as no JSON, and so is an
/// object in which a key stands twice. Throws Json::parse_error, or, with `throws` false, gives a discarded value.
template <class Json>
Json parse_json(std::string_view text, bool throws = true) {
  constexpr int kMaxLevels = 64;
  KeysOfObjects<Json> keys;
  const auto see = [&keys](int depth, typename Json::parse_event_t event, Json& parsed) {
    return keys(depth, event, parsed);
  };
  Json json = Json::parse(nests_deeper_than(text, kMaxLevels) ? std::string_view() : text, see, throws);
  return keys.repeated() ? Json::parse(std::string_view(), nullptr, throws) : json;
}

}  // namespace cachet::io
