#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <variant>
#include <vector>

#include "cachet/data/text/encoders/vocabulary.h"

namespace cachet::data {

/// A view of token ids that are stored in two or in four bytes each.
class TokenView {
 public:
  TokenView() = default;
  TokenView(const std::vector<Token>& tokens) : tokens_(std::span<const Token>(tokens)) {}  // implicit conversion
  explicit TokenView(std::span<const uint16_t> tokens) : tokens_(tokens) {}
  explicit TokenView(std::span<const Token> tokens) : tokens_(tokens) {}

  size_t size() const {
    return std::visit([](const auto& tokens) { return tokens.size(); }, tokens_);
  }
  bool empty() const { return size() == 0; }
  const void* data() const {  // address of the tokens
    return std::visit([](const auto& tokens) -> const void* { return tokens.data(); }, tokens_);
  }
  Token operator[](size_t place) const {
    return std::visit([place](const auto& tokens) { return Token{tokens[place]}; }, tokens_);
  }
  /// Writes size() ids to `out`. Returns a pointer to the position after the last id.
  int64_t* copy_to(int64_t* out) const;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Token;
    using difference_type = std::ptrdiff_t;
    using pointer = const Token*;
    using reference = Token;

    Iterator(const TokenView* view, size_t place) : view_(view), place_(place) {}
    Token operator*() const { return (*view_)[place_]; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    Iterator operator++(int) { return {view_, place_++}; }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }

   private:
    const TokenView* view_;
    size_t place_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

  friend bool operator==(const TokenView& left, const TokenView& right);

 private:
  std::variant<std::span<const uint16_t>, std::span<const Token>> tokens_;
};

/// Concatenated sequences of token ids. Each token takes two bytes if the vocabulary permits, otherwise four.
class TokenStore {
 public:
  /// Throws std::invalid_argument unless 0 <= vocabulary <= kMaxTokens.
  explicit TokenStore(int64_t vocabulary);

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t bytes_per_token() const { return static_cast<int64_t>(is_narrow() ? sizeof(uint16_t) : sizeof(Token)); }
  /// Adds a sequence and returns its number. If `is_cut` is true, the sequence was cut before this call. Throws
  /// std::invalid_argument for an id outside the vocabulary.
  int64_t add(std::span<const Token> tokens, bool is_cut = false);
  bool is_cut(int64_t number) const { return cut_.at(static_cast<size_t>(number)); }
  /// Returns the sequence with the number `number`. Throws std::out_of_range if there is no such sequence.
  TokenView operator[](int64_t number) const;

 private:
  bool is_narrow() const { return std::holds_alternative<std::vector<uint16_t>>(tokens_); }

  int64_t vocabulary_;
  std::variant<std::vector<uint16_t>, std::vector<Token>> tokens_;
  std::vector<bool> cut_;
  std::vector<size_t> starts_{0};  // start of each sequence, and the end of the last
};

}  // namespace cachet::data
