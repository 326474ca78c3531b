#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace cachet::data {

/// Options for drawing expressions. The defaults are the values of the Long Range Arena.
struct ListOpsOptions {
  int64_t train = 96'000, validation = 2'000, test = 2'000;  // numbers of expressions
  int64_t depth = 10;                                        // operators are nested at most depth − 1 levels deep
  int64_t arguments = 10;                                    // largest number of arguments of an operator; at least 2
  int64_t longer_than = 500, shorter_than = 2'000;           // number of tokens without parentheses, both exclusive
  uint64_t seed = 0;
  int64_t threads = 1;  // affects only the speed

  int64_t size() const { return train + validation + test; }
};

/// Throws std::invalid_argument, which names the option, if an option is out of range.
void check(const ListOpsOptions& options);

/// Returns the number of bytes of the longest possible expression.
int64_t most_listops_bytes(const ListOpsOptions& options);

/// A drawn expression.
struct ListOpsExpression {
  std::string source{};  // in the form of the arena; empty if the draw was out of range
  int value = 0;
  int64_t tokens = 0;                  // number without parentheses; for a draw out of range, the tokens drawn so far
  std::array<int64_t, 4> operators{};  // number of each operator, in the order of kListOpsOperators
};

/// Draws one expression. If the drawn expression is too short or too long, its text `source` is empty. A node is an
/// operator with probability 1/4, otherwise a digit. The operator and its number of arguments (2 … options.arguments)
/// are drawn uniformly. At the greatest depth, all nodes are digits. The random choices depend only on options.seed and
/// `attempt`.
ListOpsExpression draw_listops(const ListOpsOptions& options, int64_t attempt);

}  // namespace cachet::data
