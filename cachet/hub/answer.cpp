#include "cachet/hub/answer.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

namespace cachet::hub {
namespace {

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

std::string Answer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::optional<uint64_t> Answer::length() const { return whole_number(header("content-length")); }

// "bytes 100-199/200"
std::optional<uint64_t> Answer::size_of_range_from(uint64_t start) const {
  const std::string text = header("content-range"), begin = "bytes " + std::to_string(start) + "-";
  const size_t slash = text.find('/');
  if (!text.starts_with(begin) || slash == std::string::npos) return std::nullopt;
  const auto size = whole_number(std::string_view(text).substr(slash + 1));
  return size && *size > start ? size : std::nullopt;  // a part that begins after the end is of another file
}

void add_header_line(std::string_view line, Answer& answer) {
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {  // of an answer after one of a proxy, or after "100 Continue"
    answer.headers.clear();
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  answer.headers[name] = trimmed(line.substr(colon + 1));
}

}  // namespace cachet::hub
