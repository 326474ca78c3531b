#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace cachet::data {

/// Which expressions are drawn; the defaults are the arena's.
struct ListOpsOptions {
  int64_t train = 96'000, validation = 2'000, test = 2'000;  // how many
  int64_t depth = 10;                                        // operators nest depth − 1 deep
  int64_t arguments = 10;                                    // of an operator, at most; at least 2
  int64_t longer_than = 500, shorter_than = 2'000;           // tokens without parentheses, both exclusive
  uint64_t seed = 0;
  int64_t threads = 1;  // changes the speed alone

  int64_t size() const { return train + validation + test; }
};

/// Throws std::invalid_argument that names the option which is out of range.
void check(const ListOpsOptions& options);

/// Bytes that the longest expression may take.
int64_t most_listops_bytes(const ListOpsOptions& options);

/// An expression that was drawn.
struct ListOpsExpression {
  std::string source{};  // as the arena writes it; empty where the draw was out of range
  int value = 0;
  int64_t tokens = 0;                  // without parentheses; of a draw out of range, those that were drawn
  std::array<int64_t, 4> operators{};  // how many of each, in the order of kListOpsOperators
};

/// Draws one expression, or none whose length is in range. A node is an operator with probability 1/4, one of four,
/// with 2 … options.arguments arguments, all equally likely, else a digit; at the greatest depth it is a digit. A
/// function of (seed, attempt).
ListOpsExpression draw_listops(const ListOpsOptions& options, int64_t attempt);

}  // namespace cachet::data
