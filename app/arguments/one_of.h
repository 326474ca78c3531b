#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <vector>

namespace cachet::app {

/// Returns a validator of an option that takes one of a few words. The error for another word lists all words and the
/// nearest one: "must be fp32 or bf16, not 'bf17' (did you mean 'bf16'?)".
CLI::Validator one_of(std::vector<std::string> words);

/// Returns a validator of an option that takes one of the words (keys) of a table.
template <class Meaning>
CLI::Validator one_of(const std::map<std::string, Meaning>& meanings) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : meanings) words.push_back(word);
  return one_of(std::move(words));
}

}  // namespace cachet::app
