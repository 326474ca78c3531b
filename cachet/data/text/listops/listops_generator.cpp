#include "cachet/data/text/listops/listops_generator.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cachet/data/ordered_prefetch.h"

namespace cachet::data {
namespace {

constexpr int64_t kMaxBlockAttempts = 2'048;
constexpr int64_t kBytesAhead = int64_t{1} << 28;  // that expressions of blocks which wait to be taken may have
// Seconds of work of one thread, whatever an attempt costs.
constexpr int64_t kMaxAttemptsInVain = int64_t{1} << 22, kMaxTokensInVain = int64_t{400'000'000};
constexpr int64_t kMaxExpressions = 100'000'000;
constexpr int64_t kMaxDepth = 1'000, kMaxArguments = 1'000, kMaxLength = 1'000'000;

void require_in(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument(std::string(name) + " must be from " + std::to_string(least) + " to " +
                              std::to_string(most) + ", not " + std::to_string(value));
}

/// 128 bits of an expression. Among 10^8 of them two that differ have the same with a probability of 10^-22.
struct ListOpsPrint {
  uint64_t low = 0, high = 0;
  bool operator==(const ListOpsPrint&) const = default;
};
struct ListOpsPrintHash {
  size_t operator()(const ListOpsPrint& print) const { return print.low; }
};

ListOpsPrint print_of(std::string_view text) {
  // Two polynomials in odd constants, modulo 2^64, of eight letters at a time; high bits are folded down at each step.
  ListOpsPrint print{text.size(), ~text.size()};
  while (!text.empty()) {
    uint64_t letters = 0;
    const size_t count = std::min(text.size(), sizeof(letters));
    std::memcpy(&letters, text.data(), count);
    text.remove_prefix(count);
    print.low = (print.low ^ letters) * 0x9fb21c651e98df25;
    print.low ^= print.low >> 29;
    print.high = (print.high + letters) * 0xd6e8feb86659fd93;
    print.high ^= print.high >> 32;
  }
  return print;
}

/// What came of a block of attempts.
struct ListOpsFinds {
  struct Find {
    int64_t attempt = 0;
    ListOpsExpression expression{};
    ListOpsPrint print{};
  };
  std::vector<Find> finds{};
  int64_t tokens = 0;  // of all attempts
};

ListOpsFinds draw_block(const ListOpsOptions& options, int64_t first, int64_t attempts) {
  ListOpsFinds result;
  for (int64_t attempt = first; attempt < first + attempts; ++attempt) {
    ListOpsFinds::Find find{attempt, draw_listops(options, attempt)};
    result.tokens += find.expression.tokens;
    if (find.expression.source.empty()) continue;
    find.print = print_of(find.expression.source);
    result.finds.push_back(std::move(find));
  }
  return result;
}

}  // namespace

void check(const ListOpsOptions& options) {
  for (const auto& [name, count] :
       {std::pair("train", options.train), {"validation", options.validation}, {"test", options.test}})
    require_in(name, count, 0, kMaxExpressions);
  require_in("depth", options.depth, 1, kMaxDepth);
  require_in("arguments", options.arguments, 2, kMaxArguments);
  require_in("longer-than", options.longer_than, 0, kMaxLength);
  require_in("shorter-than", options.shorter_than, options.longer_than + 2, kMaxLength);
  require_in("threads", options.threads, 1, 1'024);
}

void ListOpsStatistics::add(const ListOpsExpression& expression, const ListOpsOptions& options) {
  const int64_t span = options.shorter_than - options.longer_than - 1;
  ++lengths[static_cast<size_t>((expression.tokens - options.longer_than - 1) * kLengthBins / span)];
  for (size_t i = 0; i < operators.size(); ++i) operators[i] += expression.operators[i];
  ++values[static_cast<size_t>(expression.value)];
}

ListOpsStatistics generate_listops(const ListOpsOptions& options, const TakeListOps& take, const WatchListOps& watch) {
  check(options);
  // One thread works in the caller; several draw ahead of it.
  const int64_t workers = options.threads > 1 ? options.threads : 0;
  const int64_t attempts =
      std::clamp<int64_t>(kBytesAhead / ((3 * workers + 1) * most_listops_bytes(options)), 1, kMaxBlockAttempts);
  OrderedPrefetch<ListOpsFinds> blocks(
      0, std::numeric_limits<int64_t>::max() / attempts,
      [options, attempts](int64_t block) { return draw_block(options, block * attempts, attempts); }, workers,
      2 * workers);
  ListOpsStatistics statistics;
  std::unordered_set<ListOpsPrint, ListOpsPrintHash> seen;
  int64_t index = 0, tokens_in_vain = 0;
  for (int64_t drawn = 0; index < options.size(); drawn += attempts) {
    if (drawn - statistics.attempts > kMaxAttemptsInVain || tokens_in_vain > kMaxTokensInVain) {
      throw std::runtime_error("after " + std::to_string(index) + " expressions, " +
                               std::to_string(drawn - statistics.attempts) +
                               " draws gave no new expression with a length within the bounds; choose fewer "
                               "expressions, or change the depth, the number of arguments or the bounds of the length");
    }
    const ListOpsFinds block = *blocks.next();
    tokens_in_vain += block.tokens;
    for (const auto& find : block.finds) {
      if (index == options.size() || !seen.insert(find.print).second) continue;
      take(index++, find.expression);
      statistics.add(find.expression, options);
      statistics.attempts = find.attempt + 1;
      tokens_in_vain = 0;
    }
    if (watch) watch(index);
  }
  return statistics;
}

}  // namespace cachet::data
