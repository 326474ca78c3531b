#pragma once

#include <span>
#include <string>

#include "cachet/data/text/listops/listops.h"

namespace cachet::test {

/// The text of the expression at the start of `tokens`, as the arena writes it; `tokens` loses what it is made of.
inline std::string listops_text(std::span<const data::Token>& tokens) {
  const data::Token first = tokens.front();
  tokens = tokens.subspan(1);
  if (first < data::kListOpsMin) return std::to_string(first - data::kListOpsZero);
  std::string text = "[" + std::string(data::kListOpsOperators[first - data::kListOpsMin]);
  while (tokens.front() != data::kListOpsClose) {
    text = "( " + text;
    text += " " + listops_text(tokens) + " )";
  }
  tokens = tokens.subspan(1);
  return "( " + text + " ] )";
}

inline std::string whole_listops_text(std::span<const data::Token> tokens) { return listops_text(tokens); }

}  // namespace cachet::test
