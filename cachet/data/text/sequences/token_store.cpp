#include "cachet/data/text/sequences/token_store.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace cachet::data {
namespace {

constexpr int64_t kMaxNarrowTokens = int64_t{1} << 16;

}  // namespace

int64_t* TokenView::copy_to(int64_t* out) const {
  return std::visit([out](const auto& tokens) { return std::ranges::copy(tokens, out).out; }, tokens_);
}

bool operator==(const TokenView& left, const TokenView& right) {
  return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin());
}

TokenStore::TokenStore(int64_t vocabulary) : vocabulary_(vocabulary) {
  if (vocabulary < 0 || vocabulary > kMaxTokens)
    throw std::invalid_argument("a vocabulary cannot have " + std::to_string(vocabulary) + " tokens; the maximum is " +
                                std::to_string(kMaxTokens));
  if (vocabulary > kMaxNarrowTokens) tokens_ = std::vector<Token>();
}

int64_t TokenStore::add(std::span<const Token> tokens, bool is_cut) {
  const auto wrong = std::ranges::find_if(tokens, [this](Token token) { return token < 0 || token >= vocabulary_; });
  if (wrong != tokens.end())
    throw std::invalid_argument("there is no token " + std::to_string(*wrong) + " in a vocabulary of " +
                                std::to_string(vocabulary_) + " tokens");
  const size_t end = starts_.back() + tokens.size();
  std::visit(
      [&](auto& all) {
        using Held = typename std::decay_t<decltype(all)>::value_type;
        std::ranges::transform(tokens, std::back_inserter(all), [](Token token) { return static_cast<Held>(token); });
      },
      tokens_);
  starts_.push_back(end);
  cut_.push_back(is_cut);
  return size() - 1;
}

TokenView TokenStore::operator[](int64_t number) const {
  if (number < 0 || number >= size()) {
    throw std::out_of_range("sequence " + std::to_string(number) + " of " + std::to_string(size()));
  }
  const size_t start = starts_[static_cast<size_t>(number)], end = starts_[static_cast<size_t>(number) + 1];
  return std::visit([&](const auto& all) { return TokenView(std::span(all).subspan(start, end - start)); }, tokens_);
}

}  // namespace cachet::data
