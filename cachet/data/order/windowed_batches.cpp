#include "cachet/data/order/windowed_batches.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/data/random.h"

namespace cachet::data {
namespace {

void check_windows(const std::vector<int64_t>& shard_sizes, int64_t window) {
  if (std::ranges::any_of(shard_sizes, [](int64_t size) { return size < 0; }))
    throw std::invalid_argument("a shard cannot have a negative number of samples");
  if (window < 1)
    throw std::invalid_argument("the window has " + std::to_string(window) + " samples; it must have at least 1");
}

int64_t sum_of(const std::vector<int64_t>& sizes) { return std::accumulate(sizes.begin(), sizes.end(), int64_t{0}); }

}  // namespace

std::vector<int64_t> windowed_order(const std::vector<int64_t>& shard_sizes, int64_t window, uint64_t seed,
                                    int64_t epoch) {
  check_windows(shard_sizes, window);
  const auto key = static_cast<uint64_t>(epoch);
  std::vector<int64_t> first{0};  // of each shard
  for (const int64_t size : shard_sizes) first.push_back(first.back() + size);
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(first.back()));
  // Index 0 is the key of the shards, and index 1 + w the key of window w.
  const auto shards = permutation(static_cast<int64_t>(shard_sizes.size()), {seed, RandomStream::windows, key, 0});
  for (const int64_t shard : shards)
    for (int64_t i = first[static_cast<size_t>(shard)]; i < first[static_cast<size_t>(shard) + 1]; ++i)
      order.push_back(i);
  const auto size = static_cast<int64_t>(order.size());
  for (int64_t begin = 0, number = 1; begin < size; ++number) {
    const int64_t count = std::min(window, size - begin);
    CounterRandom random(seed, RandomStream::windows, key, static_cast<uint64_t>(number));
    const auto samples = order.begin() + begin;
    for (int64_t left = count; left > 1; --left)  // Fisher–Yates
      std::swap(samples[left - 1], samples[static_cast<int64_t>(random.below(static_cast<uint64_t>(left)))]);
    begin += count;
  }
  return order;
}

WindowedBatches::WindowedBatches(std::vector<int64_t> shard_sizes, int64_t window, EqualBatchOptions options,
                                 Shard shard)
    : BatchOrder(sum_of(shard_sizes), options.seed, shard),
      shard_sizes_(std::move(shard_sizes)),
      window_(window),
      cut_{samples(), options.batch_size, options.drop_last},
      repeats_(options.repeats) {
  check_windows(shard_sizes_, window_);
  check_batch_size(options.batch_size);
  check_repeats(options.repeats);
}

EpochOrder::WholeBatch WindowedBatches::whole_batches(int64_t epoch) const {
  return cut_.whole_batches(
      std::make_shared<const std::vector<int64_t>>(windowed_order(shard_sizes_, window_, seed(), epoch)), repeats_);
}

}  // namespace cachet::data
