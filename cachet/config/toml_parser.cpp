#include "cachet/config/toml_parser.h"

#include <algorithm>
#include <cctype>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iosfwd>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "cachet/config/nesting.h"
#include "cachet/config/toml_text.h"
#include "cachet/config/utf8.h"

// The one file that knows toml++. Its symbols stay hidden, so that a program that links us may carry another version;
// what it includes of the C library comes before it, since hidden it would not be found.
//
// Some of its assertions fail for texts that it refuses a line later ("[" at the end of a line). Where they are active
// they would end the program, and where NDEBUG is defined clang is told to take them for true: so they are made
// nothing.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 32  // never reached: nesting.h looks first
#define TOML_ASSERT(condition) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#pragma GCC visibility push(hidden)
#include <toml++/toml.h>
#pragma GCC visibility pop
#pragma pop_macro("NDEBUG")

namespace cachet::config {
namespace {

[[noreturn]] void refuse(const std::string& source, int64_t line, const std::string& message) {
  throw Error({Problem{Origin{source, line}, "", message}});
}

int64_t line_of(std::string_view text, size_t index) { return 1 + std::ranges::count(text.substr(0, index), '\n'); }

void check_bytes(std::string_view text, const std::string& source) {
  const size_t zero = text.find('\0');
  const size_t invalid = first_invalid_utf8(text);
  if (invalid < zero) refuse(source, line_of(text, invalid), "a byte that is no UTF-8; save the file as UTF-8");
  if (zero != std::string_view::npos) {
    refuse(source, line_of(text, zero), "a NUL byte: this is no text, or UTF-16; save the file as UTF-8");
  }
  if (const auto line = line_nested_too_deep(text)) {
    refuse(source, *line, "nested deeper than " + std::to_string(kMostNesting) + " tables or lists");
  }
}

std::string in_our_words(std::string_view description) {
  constexpr std::string_view kOpening = "Error while parsing ";
  if (description.starts_with(kOpening)) description.remove_prefix(kOpening.size());
  const bool bare_word = description.find("could not determine value type") != std::string_view::npos;
  return "invalid TOML, " + printable(description) + (bare_word ? "; a text needs quotes" : "");
}

class Converter {
 public:
  explicit Converter(const std::string& source) : source_(source) {}

  Node convert(const toml::node& from, int64_t depth, const std::string& path) const {
    const int64_t line = from.source().begin.line;
    if (depth > kMostNesting) {
      refuse(source_, line, path + ": nested deeper than " + std::to_string(kMostNesting) + " tables or lists");
    }
    Node node;
    node.origin = {source_, line};
    if (const toml::table* table = from.as_table()) {
      Table entries;
      for (const auto& [key, child] : *table) {
        entries.emplace(key.str(), convert(child, depth + 1, join_path(path, toml_key(key.str()))));
      }
      node.value = std::move(entries);
    } else if (const toml::array* array = from.as_array()) {
      List items;
      for (const toml::node& child : *array) items.push_back(convert(child, depth + 1, path));
      node.value = std::move(items);
    } else if (const auto* boolean = from.as_boolean()) {
      node.value = boolean->get();
    } else if (const auto* integer = from.as_integer()) {
      node.value = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
      node.value = real->get();
    } else if (const auto* text = from.as_string()) {
      node.value = text->get();
    } else {
      node.value = DateOrTime{};
    }
    return node;
  }

 private:
  const std::string& source_;
};

}  // namespace

Node parse_toml(std::string_view text, const std::string& source) {
  check_bytes(text, source);
  const toml::parse_result parsed = toml::parse(text, source);
  if (!parsed) refuse(source, parsed.error().source().begin.line, in_our_words(parsed.error().description()));
  Node root = Converter(source).convert(parsed.table(), 0, "");
  root.origin = {source, 0};
  return root;
}

}  // namespace cachet::config
