#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

// Return a value in the syntax of TOML. A TOML parser reads the returned text as the original value, with the original
// type.
std::string toml_text(bool value);
std::string toml_text(int64_t value);
std::string toml_text(double value);  // shortest text with the same value; it never looks like an integer
std::string toml_text(std::string_view value);
std::string toml_text(const std::string& value);
std::string toml_text(const char* value) = delete;  // the pointer would be converted to bool

template <class Element>
std::string toml_text(const std::vector<Element>& values) {
  std::string text = "[";
  for (const Element& value : values) {
    if (text.size() > 1) text += ", ";
    text += toml_text(value);
  }
  return text += ']';
}

/// Returns one part of a dotted key, with quotes only if TOML requires them.
std::string toml_key(std::string_view key);

}  // namespace cachet::config
