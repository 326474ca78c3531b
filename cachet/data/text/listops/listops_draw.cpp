#include "cachet/data/text/listops/listops_draw.h"

#include <cstring>
#include <vector>

#include "cachet/data/random.h"
#include "cachet/data/text/listops/listops_values.h"

namespace cachet::data {
namespace {

/// What is drawn, written as it is drawn: most of the time goes into branches that no processor foresees, so each token
/// is met once. A node takes one random number: its high bits choose its kind, its low 32 which of some, with a bias
/// below 10^-6.
class ListOpsDraw {
 public:
  ListOpsDraw(const ListOpsOptions& options, int64_t attempt, char* text)
      : options_(options),
        random_(options.seed, RandomStream::expressions, 0, static_cast<uint64_t>(attempt)),
        text_(text),
        next_(text) {}

  /// The node's value; less than 0 as soon as the expression is too long.
  int node(int64_t depth) {
    const uint64_t drawn = random_.next();
    const bool is_operator = (drawn >> 62) == 0 && depth < options_.depth;
    if (++tokens_ >= options_.shorter_than) return -1;
    if (is_operator) return list(depth, drawn);
    const auto digit = static_cast<int>(low_below(drawn, 10));
    *next_++ = static_cast<char>('0' + digit);
    return digit;
  }

  ListOpsExpression expression(int value) const {
    return {{text_, static_cast<size_t>(next_ - text_)}, value, tokens_, operators_};
  }
  int64_t tokens() const { return tokens_; }

 private:
  static int64_t low_below(uint64_t drawn, int64_t bound) {
    return static_cast<int64_t>(((drawn & 0xffffffff) * static_cast<uint64_t>(bound)) >> 32);
  }

  template <size_t N>
  void put(const char (&piece)[N]) {
    std::memcpy(next_, piece, N - 1);
    next_ += N - 1;
  }

  // ( ( ( [MIN 6 ) 7 ) ] ): pairs of what stands so far and an argument, the bracket the last.
  int list(int64_t depth, uint64_t drawn) {
    const int64_t arguments = 2 + low_below(drawn, options_.arguments - 1);
    const auto which = static_cast<size_t>((drawn >> 60) & 3);
    ++operators_[which];
    for (int64_t i = 0; i <= arguments; ++i) put("( ");
    *next_++ = '[';
    const std::string_view name = kListOpsOperators[which];
    std::memcpy(next_, name.data(), name.size());
    next_ += name.size();
    ListOpsValues values{static_cast<Token>(kListOpsMin + which)};
    for (int64_t i = 0; i < arguments; ++i) {
      *next_++ = ' ';
      const int value = node(depth + 1);
      if (value < 0) return value;
      put(" )");
      values.add(value);
    }
    put(" ] )");
    return ++tokens_ < options_.shorter_than ? values.result() : -1;
  }

  const ListOpsOptions& options_;
  CounterRandom random_;
  char* const text_;
  char* next_;
  int64_t tokens_ = 0;
  std::array<int64_t, 4> operators_{};
};

}  // namespace

int64_t most_listops_bytes(const ListOpsOptions& options) {
  // A token takes at most "( [MIN " with its pair's parentheses; lists that are open, those of arguments to come.
  return 12 * options.shorter_than + 2 * options.depth * (options.arguments + 1);
}

ListOpsExpression draw_listops(const ListOpsOptions& options, int64_t attempt) {
  thread_local std::vector<char> room;  // hardly any attempt is used
  room.resize(static_cast<size_t>(most_listops_bytes(options)));
  ListOpsDraw draw(options, attempt, room.data());
  const int value = draw.node(/*depth=*/1);
  if (value < 0 || draw.tokens() <= options.longer_than) return {.tokens = draw.tokens()};
  return draw.expression(value);
}

}  // namespace cachet::data
