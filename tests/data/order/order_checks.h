#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "cachet/data/order/batch_order.h"
#include "cachet/data/order/length_buckets.h"
#include "cachet/data/random.h"

namespace cachet::test {

inline std::vector<int64_t> counted(int64_t size) {
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

inline std::vector<int64_t> sorted(std::vector<int64_t> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

/// The samples of an epoch, batch behind batch.
inline std::vector<int64_t> visited(const data::BatchOrder& order, int64_t epoch) {
  std::vector<int64_t> samples;
  const data::EpochOrder batches = order.epoch(epoch);
  for (int64_t number = 0; number < batches.batches(); ++number) {
    const std::vector<int64_t> batch = batches.place(number).indices();
    samples.insert(samples.end(), batch.begin(), batch.end());
  }
  return samples;
}

/// Lengths below 1000, drawn.
inline data::Lengths drawn_lengths(int64_t size, uint64_t seed = 1) {
  auto lengths = std::make_shared<std::vector<int64_t>>();
  data::CounterRandom random(seed, data::RandomStream::noise, 0, 0);
  for (int64_t i = 0; i < size; ++i) lengths->push_back(static_cast<int64_t>(random.below(1000)));
  return lengths;
}

/// FNV-1a of all that an epoch's batches hold.
inline uint64_t fingerprint(const data::BatchOrder& order, int64_t epoch) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](int64_t value) { hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3; };
  const data::EpochOrder batches = order.epoch(epoch);
  for (int64_t number = 0; number < batches.batches(); ++number) {
    add(int64_t{1} << 20);
    for (const auto& [index, repetition] : batches.place(number).samples) {
      add(index);
      add(repetition);
    }
  }
  return hash;
}

/// What holds for each kind of order, which `make` makes for a shard: batches are a function of (seed, epoch, number),
/// asked for in any way, and the shards of an epoch share each batch out, in equally many parts that differ by one
/// sample at most.
template <class Make>
void expect_keeps_the_contract(const Make& make) {
  const auto whole = make(data::Shard{});
  for (const int64_t epoch : {0, 7}) {
    const data::EpochOrder batches = whole->epoch(epoch);
    ASSERT_EQ(batches.batches(), whole->batches());
    for (int64_t number = whole->batches(); number-- > 0;) {  // from the back
      const data::BatchPlace place = batches.place(number);
      EXPECT_EQ(place.epoch, epoch);
      EXPECT_EQ(place.number, number);
      EXPECT_EQ(place.samples, make(data::Shard{})->epoch(epoch).place(number).samples);
    }
    EXPECT_THROW(batches.place(-1), std::out_of_range);
    EXPECT_THROW(batches.place(whole->batches()), std::out_of_range);
    for (const int64_t world : {2, 3}) {
      std::vector<data::EpochOrder> shards;
      for (int64_t rank = 0; rank < world; ++rank) {
        const auto shard = make(data::Shard{rank, world});
        ASSERT_EQ(shard->batches(), whole->batches()) << "nobody waits for a batch that another one does not have";
        shards.push_back(shard->epoch(epoch));
      }
      for (int64_t number = 0; number < whole->batches(); ++number) {
        const std::vector<data::PlacedSample> all = batches.place(number).samples;
        std::vector<std::vector<data::PlacedSample>> parts;
        for (const data::EpochOrder& shard : shards) parts.push_back(shard.place(number).samples);
        for (size_t i = 0; i < all.size(); ++i) {
          const size_t rank = i % parts.size(), place = i / parts.size();
          ASSERT_LT(place, parts[rank].size());
          EXPECT_EQ(parts[rank][place], all[i]);
        }
        EXPECT_LE(parts.front().size() - parts.back().size(), 1u);
        EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), size_t{0},
                                  [](size_t sum, const auto& part) { return sum + part.size(); }),
                  all.size());
      }
    }
  }
  // A process that has several parts of each batch reads them one after the other, each as a process of its own would.
  const data::Shard three{.rank = 0, .world_size = 1, .parts = 3};
  const data::EpochOrder read = make(three)->epoch(5);
  EXPECT_EQ(make(three)->read_batches(), 3 * whole->batches());
  ASSERT_EQ(read.batches(), 3 * whole->batches());
  for (int64_t part = 0; part < 3; ++part) {
    const data::EpochOrder alone = make(three.alone(part))->epoch(5);
    for (int64_t number = 0; number < whole->batches(); ++number) {
      const data::BatchPlace place = read.place(3 * number + part);
      EXPECT_EQ(place.samples, alone.place(number).samples);
      EXPECT_EQ(place.number, number);
    }
  }
  EXPECT_THROW(read.place(3 * whole->batches()), std::out_of_range);
  EXPECT_THROW(make(data::Shard{0, 1, 0}), std::invalid_argument);
  EXPECT_THROW(make(data::Shard{-1, 2}), std::invalid_argument);
  EXPECT_THROW(make(data::Shard{2, 2}), std::invalid_argument);
  EXPECT_THROW(make(data::Shard{0, 0}), std::invalid_argument);
}

}  // namespace cachet::test
