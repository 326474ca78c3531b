#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <vector>

namespace cachet::app {

/// What checks an option that takes one of a few words. Another word is refused with all of them and the nearest:
/// "must be fp32 or bf16, not 'bf17' (did you mean 'bf16'?)".
CLI::Validator one_of(std::vector<std::string> words);

/// The same of the words that a table gives a meaning.
template <class Meaning>
CLI::Validator one_of(const std::map<std::string, Meaning>& meanings) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : meanings) words.push_back(word);
  return one_of(std::move(words));
}

}  // namespace cachet::app
