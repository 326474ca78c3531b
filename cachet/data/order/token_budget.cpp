#include "cachet/data/order/token_budget.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

#include "cachet/data/random.h"

namespace cachet::data {
namespace {

constexpr int64_t kMaxBudget = int64_t{1} << 31;

int64_t checked_samples(const std::vector<Lengths>& sides) {
  const auto is_missing = [](const Lengths& side) { return side == nullptr; };
  if (sides.empty() || sides.size() > 2 || std::ranges::any_of(sides, is_missing))
    throw std::invalid_argument(
        "a token budget needs one list of lengths, or two lists: the source lengths and the target lengths");
  if (sides.front()->size() != sides.back()->size())
    throw std::invalid_argument("both lists must have the same number of lengths, but one list has " +
                                std::to_string(sides.front()->size()) + " and the other list has " +
                                std::to_string(sides.back()->size()));
  return static_cast<int64_t>(sides.front()->size());
}

// The lengths of each sample, the longer side's first.
class LengthsOfSamples {
 public:
  explicit LengthsOfSamples(const std::vector<Lengths>& sides) : first_(*sides.front()), second_(*sides.back()) {}

  int64_t longer(int64_t sample) const { return std::max(first(sample), second(sample)); }
  int64_t shorter(int64_t sample) const { return std::min(first(sample), second(sample)); }

 private:
  int64_t first(int64_t sample) const { return first_[static_cast<size_t>(sample)]; }
  int64_t second(int64_t sample) const { return second_[static_cast<size_t>(sample)]; }

  const std::vector<int64_t>& first_;
  const std::vector<int64_t>& second_;
};

void check_lengths(const LengthsOfSamples& lengths, int64_t samples, int64_t max_tokens) {
  for (int64_t i = 0; i < samples; ++i) {
    if (lengths.shorter(i) < 1) throw std::invalid_argument("sample " + std::to_string(i) + " has no tokens");
    if (lengths.longer(i) > max_tokens)
      throw std::invalid_argument("sample " + std::to_string(i) + " has " + std::to_string(lengths.longer(i)) +
                                  " tokens with padding, but a batch has at most " + std::to_string(max_tokens) +
                                  " tokens; raise max_tokens, or cut long samples");
  }
}

}  // namespace

TokenBudgetOptions read_token_budget_options(const config::View& view) {
  TokenBudgetOptions options;
  options.max_tokens = view.integer("max_tokens", options.max_tokens, {1, kMaxBudget});
  options.max_samples = view.integer("max_samples", options.max_samples, {.least = 0});
  return options;
}

TokenBudget::TokenBudget(const std::vector<Lengths>& sides, TokenBudgetOptions options, Shard shard)
    : BatchOrder(checked_samples(sides), options.seed, shard), shuffle_(options.shuffle) {
  if (options.max_tokens < 1 || options.max_samples < 0)
    throw std::invalid_argument("max_tokens must be at least 1, and max_samples must be at least 0 (no limit)");
  const LengthsOfSamples lengths(sides);
  check_lengths(lengths, samples(), options.max_tokens);
  auto cut = std::make_shared<Cut>();
  cut->samples = permutation(samples(), {options.seed, RandomStream::composition, 0, 0});
  std::ranges::stable_sort(cut->samples, {},
                           [&](int64_t i) { return std::pair(lengths.longer(i), lengths.shorter(i)); });
  int64_t in_batch = 0;
  for (size_t i = 0; i < cut->samples.size(); ++i) {
    // Samples come by their longer side, so the next one is the longest of its batch.
    const int64_t fitting = options.max_tokens / lengths.longer(cut->samples[i]);
    if (in_batch + 1 > fitting || (options.max_samples > 0 && in_batch == options.max_samples)) {
      cut->starts.push_back(static_cast<int64_t>(i));
      in_batch = 0;
    }
    ++in_batch;
  }
  if (samples() > 0) cut->starts.push_back(samples());
  cut_ = std::move(cut);
}

EpochOrder::WholeBatch TokenBudget::whole_batches(int64_t epoch) const {
  std::vector<int64_t> shuffled;
  if (shuffle_) shuffled = permutation(batches(), {seed(), RandomStream::buckets, static_cast<uint64_t>(epoch), 0});
  return [cut = cut_, shuffled = std::move(shuffled)](int64_t number) {
    const auto batch = static_cast<size_t>(shuffled.empty() ? number : shuffled[static_cast<size_t>(number)]);
    std::vector<PlacedSample> samples;
    for (int64_t i = cut->starts[batch]; i < cut->starts[batch + 1]; ++i)
      samples.push_back({cut->samples[static_cast<size_t>(i)]});
    return samples;
  };
}

}  // namespace cachet::data
