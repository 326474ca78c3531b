#include "app/arguments/one_of.h"

#include <algorithm>

#include "cachet/config/near_names.h"

namespace cachet::app {
namespace {

// "a, b or c"
std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

// As --help has it after the name of the value: "{a,b,c}".
std::string as_set(const std::vector<std::string>& words) {
  std::string text = "{";
  for (const std::string& word : words) text += (text.size() == 1 ? "" : ",") + word;
  return text + "}";
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string set = as_set(words);
  const auto check = [words = std::move(words)](const std::string& word) -> std::string {
    if (std::ranges::find(words, word) != words.end()) return "";
    return "must be " + alternatives(words) + ", not '" + word + "'" + config::suggestion(word, words);
  };
  return {check, set};
}

}  // namespace cachet::app
