#include "cachet/data/text/token_store.h"

#include <stdexcept>
#include <string>

namespace cachet::data {

int64_t TokenStore::add(std::span<const Token> tokens, bool is_cut) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  starts_.push_back(tokens_.size());
  cut_.push_back(is_cut);
  return size() - 1;
}

std::span<const Token> TokenStore::operator[](int64_t number) const {
  if (number < 0 || number >= size()) {
    throw std::out_of_range("sequence " + std::to_string(number) + " of " + std::to_string(size()));
  }
  const size_t start = starts_[static_cast<size_t>(number)], end = starts_[static_cast<size_t>(number) + 1];
  return std::span(tokens_).subspan(start, end - start);
}

}  // namespace cachet::data
