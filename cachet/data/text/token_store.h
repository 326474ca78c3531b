#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cachet/data/text/vocabulary.h"

namespace cachet::data {

/// Sequences of token ids, one behind the other: two bytes a token.
class TokenStore {
 public:
  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  /// The number of the sequence that was added; `is_cut`: it was longer.
  int64_t add(std::span<const Token> tokens, bool is_cut = false);
  bool is_cut(int64_t number) const { return cut_.at(static_cast<size_t>(number)); }
  /// Throws std::out_of_range.
  std::span<const Token> operator[](int64_t number) const;

 private:
  std::vector<Token> tokens_;
  std::vector<bool> cut_;
  std::vector<size_t> starts_{0};  // of each sequence, and the end of the last
};

}  // namespace cachet::data
