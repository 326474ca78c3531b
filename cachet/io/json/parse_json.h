#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// Whether a JSON text nests objects and arrays more than `levels` levels deep.
bool nests_deeper_than(std::string_view json, int levels);

/// Observes a parser and records whether an object has a key twice. If a key occurs twice, JSON readers differ in which
/// of its values they use.
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

/// Parses JSON of unknown origin with nlohmann's parser. Text with more than 64 levels counts as invalid, because
/// nlohmann's library copies and prints values recursively: deep nesting would crash the process. JSON text with the
/// same key twice in an object also counts as invalid. Throws Json::parse_error for invalid text, or returns a
/// discarded value if `throws` is false.
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
