#include "cachet/config/library_message.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

namespace cachet::config {
namespace {

/// Whether the text is a position in C++ sources: "/a/b/device.cc:83", "trainer.cc(12)".
bool is_source_place(std::string_view text) {
  for (const std::string_view extension : {".cc", ".cpp", ".h", ".hpp", ".cu"}) {
    const size_t at = text.rfind(extension);
    if (at == std::string_view::npos) continue;
    const std::string_view number = text.substr(at + extension.size());
    if (number.size() < 2 || (number.front() != ':' && number.front() != '(')) continue;
    const size_t other = number.find_first_not_of("0123456789", 1);
    if (other == std::string_view::npos || (number.substr(other) == ")" && number.front() == '(')) return true;
  }
  return false;
}

/// The text after the "] " that closes the bracket at its start; nothing if no bracket is closed.
std::string_view after_brackets(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return text.substr(std::min(text.size(), i + 2));
  }
  return {};
}

constexpr std::string_view kEnforce = "[enforce fail at ";

/// The message of LibTorch's and Gloo's CAFFE_ENFORCE: "[enforce fail at FILE:LINE] CONDITION. MESSAGE".
std::string_view of_enforce(std::string_view line) {
  const std::string_view rest = after_brackets(line);
  const size_t condition = rest.find(". ");
  return condition == std::string_view::npos ? std::string_view() : rest.substr(condition + 2);
}

/// The message of SentencePiece: "FILE(LINE) [CONDITION] MESSAGE".
std::string_view of_check(std::string_view line) {
  const size_t brackets = line.find(" [");
  return after_brackets(line.substr(brackets + 1));
}

bool begins_with_check(std::string_view line) {
  const size_t brackets = line.find(" [");
  return brackets != std::string_view::npos && is_source_place(line.substr(0, brackets));
}

/// "[FILE:LINE] MESSAGE", as Gloo begins what it throws.
bool begins_with_place(std::string_view line) {
  const size_t end = line.find("] ");
  return line.starts_with('[') && end != std::string_view::npos && is_source_place(line.substr(1, end - 1));
}

/// LibTorch's message on a failed connection of Gloo: "WHAT failed with [FILE:LINE] MESSAGE. This is typically ...".
std::string_view of_connection(std::string_view line) {
  constexpr std::string_view kFailed = " failed with [";
  const size_t at = line.find(kFailed);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + kFailed.size() - 1);
  if (!begins_with_place(rest)) return {};
  const std::string_view message = after_brackets(rest);
  return message.substr(0, message.find(". This is typically"));
}

std::string said(std::string_view message) {
  while (!message.empty() && std::isspace(static_cast<unsigned char>(message.back())) != 0) message.remove_suffix(1);
  return message.empty() ? "a check inside a library failed" : std::string(message);
}

}  // namespace

std::string plain_message(std::string_view message) {
  const std::string_view line = message.substr(0, message.find('\n'));
  if (line.starts_with(kEnforce)) return said(of_enforce(line));
  if (begins_with_place(line)) return said(after_brackets(line));
  if (begins_with_check(line)) return said(of_check(line));
  if (const std::string_view connection = of_connection(line); !connection.empty()) return said(connection);
  return std::string(message.substr(0, message.find("\nException raised from ")));  // then LibTorch's trace of calls
}

std::string start_problem(int error) {
  if (error != EAGAIN) return std::strerror(error);
  return "the limit of this user's processes and threads is reached (`ulimit -u`)";
}

}  // namespace cachet::config
