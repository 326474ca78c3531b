#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/encoders/vocabulary.h"
#include "cachet/data/text/sequences/token_store.h"

/// ListOps: nested lists of digits under operators, each with a digit as its value (Nangia and Bowman 2018), in the
/// form of the Long Range Arena (Tay et al. 2021).
namespace cachet::data {

/// Token ids: padding, the digits, the operators (their brackets included), the bracket that closes, and one that
/// stands for what a file cannot hold: the arena's vocabulary has it.
enum ListOpsToken : Token {
  kListOpsZero = 1,  // the digit d is kListOpsZero + d
  kListOpsMin = 11,
  kListOpsMax,
  kListOpsMedian,
  kListOpsSum,  // modulo 10
  kListOpsClose,
  kListOpsUnknown,
};
inline constexpr int64_t kListOpsTokens = kListOpsUnknown + 1;
inline constexpr std::array<std::string_view, 4> kListOpsOperators{"MIN", "MAX", "MED", "SM"};  // from kListOpsMin on

Vocabulary listops_vocabulary();

/// The tokens of an expression such as "( ( ( [MIN 6 ) 7 ) ] )". Round parentheses, which the arena's files have around
/// each pair, are dropped; they may be left out, but must balance. Throws io::Error that names the wrong word.
std::vector<Token> parse_listops(std::string_view text);

/// A token as an expression has it: "[MIN", "7", "]".
std::string listops_word(Token token);

/// The value of an expression that parse_listops returned, 0 … 9. The median of an even number of values is the mean of
/// the middle two, rounded down.
int evaluate_listops(TokenView tokens);

}  // namespace cachet::data
