#include "cachet/data/text/listops/listops.h"

#include <algorithm>

#include "cachet/data/text/listops/listops_values.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

bool is_operator(Token token) { return token >= kListOpsMin && token <= kListOpsSum; }

constexpr size_t kShownBytes = 20;  // of a word that is not a token

/// The token of a word that is not a parenthesis; kListOpsUnknown if the word is not a token.
Token listops_token(std::string_view word) {
  if (word == "]") return kListOpsClose;
  if (word.size() == 1 && word[0] >= '0' && word[0] <= '9') return static_cast<Token>(kListOpsZero + (word[0] - '0'));
  if (word.starts_with('[')) {
    const auto found = std::ranges::find(kListOpsOperators, word.substr(1));
    if (found != kListOpsOperators.end()) return static_cast<Token>(kListOpsMin + (found - kListOpsOperators.begin()));
  }
  return kListOpsUnknown;
}

/// Counts brackets and parentheses while an expression is read.
class ListOpsGrammar {
 public:
  void parenthesis(bool opens) {
    parentheses_ += opens ? 1 : -1;
    if (parentheses_ < 0) throw io::Error("a ')' has no matching '('");
  }

  void token(Token token) {
    if (arguments_.empty() && whole_) throw io::Error("the text continues after the end of the expression");
    if (is_operator(token)) {
      arguments_.push_back(0);
      return;
    }
    if (token == kListOpsClose) {
      if (arguments_.empty()) throw io::Error("a ']' has no matching '['");
      if (arguments_.back() == 0) throw io::Error("an operator has no arguments");
      arguments_.pop_back();
    }
    arguments_.empty() ? static_cast<void>(whole_ = true) : static_cast<void>(++arguments_.back());
  }

  void end() const {
    if (!arguments_.empty())
      throw io::Error(std::to_string(arguments_.size()) + (arguments_.size() == 1 ? " '[' is" : " '[' are") +
                      " never closed");
    if (parentheses_ > 0)
      throw io::Error(std::to_string(parentheses_) + (parentheses_ == 1 ? " '(' is" : " '(' are") + " never closed");
    if (!whole_) throw io::Error("there is no expression");
  }

 private:
  std::vector<int64_t> arguments_;  // so far, of each operator that is open
  int64_t parentheses_ = 0;
  bool whole_ = false;
};

}  // namespace

Vocabulary listops_vocabulary() {
  return {kListOpsTokens, "listops", {.padding = kPaddingToken, .unknown = kListOpsUnknown}};
}

std::string listops_word(Token token) {
  if (token >= kListOpsMin && token < kListOpsClose)
    return "[" + std::string(kListOpsOperators[static_cast<size_t>(token) - kListOpsMin]);
  if (token == kListOpsClose) return "]";
  if (token >= kListOpsZero && token < kListOpsMin) return std::to_string(token - kListOpsZero);
  return "";
}

std::vector<Token> parse_listops(std::string_view text) {
  std::vector<Token> tokens;
  ListOpsGrammar grammar;
  for (size_t begin = 0; begin < text.size();) {
    if (text[begin] == ' ') {
      ++begin;
      continue;
    }
    const std::string_view word = text.substr(begin, std::min(text.find(' ', begin), text.size()) - begin);
    begin += word.size();
    if (word == "(" || word == ")") {
      grammar.parenthesis(word == "(");
      continue;
    }
    const Token token = listops_token(word);
    if (token == kListOpsUnknown) {
      throw io::Error(io::in_quotes(word.substr(0, kShownBytes)) +
                      " is not a digit, '(', ')', ']', '[MIN', '[MAX', '[MED' or '[SM'");
    }
    grammar.token(token);
    tokens.push_back(token);
  }
  grammar.end();
  return tokens;
}

int evaluate_listops(TokenView tokens) {
  std::vector<ListOpsValues> open;
  int value = 0;
  for (const Token token : tokens) {
    if (is_operator(token)) {
      open.push_back({token});
      continue;
    }
    if (token == kListOpsClose) {
      value = open.back().result();
      open.pop_back();
    } else {
      value = token - kListOpsZero;
    }
    if (!open.empty()) open.back().add(value);
  }
  return value;
}

}  // namespace cachet::data
