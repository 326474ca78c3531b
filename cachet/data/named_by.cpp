#include "cachet/data/named_by.h"

#include <vector>

namespace cachet::data {
namespace {

/// Whether the message has the key as a whole: "data.train" is not in "data.train_folder".
bool has_key(std::string_view message, std::string_view key) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (size_t at = message.find(key); at != std::string_view::npos; at = message.find(key, at + 1)) {
    const size_t end = at + key.size();
    if (end == message.size() || kOfNames.find(message[end]) == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string with_keys(const std::string& message, std::initializer_list<std::string_view> keys) {
  std::vector<std::string_view> missing;
  for (const std::string_view key : keys)
    if (!has_key(message, key)) missing.push_back(key);
  std::string text = message;
  for (size_t i = 0; i < missing.size(); ++i) {
    text += i == 0 ? "; see " : i + 1 == missing.size() ? " and " : ", ";
    text += missing[i];
  }
  return text;
}

}  // namespace cachet::data
