#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

#include "cachet/config/view.h"

namespace cachet::config {

/// The word that recipes have for a value. Throws std::invalid_argument for one without a word.
template <class Enum, size_t N>
std::string_view word_of(Enum value, const std::array<Choice<Enum>, N>& choices) {
  for (const Choice<Enum>& choice : choices)
    if (choice.value == value) return choice.word;
  throw std::invalid_argument("a value without a word");
}

}  // namespace cachet::config
