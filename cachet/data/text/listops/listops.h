#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/encoders/vocabulary.h"
#include "cachet/data/text/sequences/token_store.h"

/// ListOps (Nangia and Bowman 2018) in the form of the Long Range Arena (Tay et al. 2021): nested lists of digits under
/// operators. The value of each nested list is a digit from 0 to 9.
namespace cachet::data {

/// Token ids: padding, the digits, the operators (with their opening brackets), the closing bracket, and the unknown
/// token of the Long Range Arena's vocabulary, which occurs in no file.
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

/// Returns the tokens of an expression such as "( ( ( [MIN 6 ) 7 ) ] )". Ignores round parentheses, which files of the
/// Long Range Arena put around pairs of subexpressions. Parentheses may be missing, but must balance. If the expression
/// is invalid, throws io::Error, which names the wrong word.
std::vector<Token> parse_listops(std::string_view text);

/// Returns the spelling of a token in an expression: "[MIN", "7", "]".
std::string listops_word(Token token);

/// Returns the value (0 … 9) of an expression from parse_listops(). The median of an even number of values is the mean
/// of the middle two values, rounded down.
int evaluate_listops(TokenView tokens);

}  // namespace cachet::data
