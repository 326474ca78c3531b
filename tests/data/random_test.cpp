#include "cachet/data/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace cachet::data {
namespace {

constexpr int kDraws = 100'000;

CounterRandom random_of(uint64_t seed, uint64_t epoch = 0, uint64_t index = 0) {
  return {seed, RandomStream::augmentation, epoch, index};
}

// Pinned: a change of these numbers would break the exact resumption of every saved run.
TEST(CounterRandom, GivesTheSameNumbersForever) {
  CounterRandom random = random_of(1, 2, 3);
  EXPECT_EQ(random.next(), 5159919382185116937u);
  EXPECT_EQ(random.next(), 12337435381334277424u);
  EXPECT_EQ(random.below(1000), 535u);
}

TEST(CounterRandom, EveryPartOfTheKeyCounts) {
  std::set<uint64_t> first_numbers;
  int keys = 0;
  for (const auto stream : {RandomStream::augmentation, RandomStream::permutation, RandomStream::mixing}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      for (uint64_t epoch = 0; epoch < 10; ++epoch) {
        for (uint64_t index = 0; index < 10; ++index, ++keys) {
          first_numbers.insert(CounterRandom(seed, stream, epoch, index).next());
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int>(first_numbers.size()), keys);
}

// The mean of n draws deviates by deviation / √n; five of these are exceeded once in two million times, and the draws
// are fixed.
TEST(CounterRandom, UniformHasItsMomentsAlsoAcrossIndices) {
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random_of(7, 0, static_cast<uint64_t>(i)).uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(CounterRandom, BelowReachesEveryNumberEquallyOften) {
  CounterRandom random = random_of(11);
  std::array<int, 7> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(counts.size()));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7.0, 5 * std::sqrt(kDraws * (1.0 / 7) * (6.0 / 7)));
  EXPECT_EQ(random.below(1), 0u);
}

TEST(CounterRandom, BelowDoesNotFavourSmallNumbersOfHugeRanges) {
  CounterRandom random = random_of(12);
  constexpr uint64_t kBound = uint64_t{3} << 62;  // a modulo alone would draw the lowest third twice as often
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.below(kBound) < (uint64_t{1} << 62);
  EXPECT_NEAR(low, kDraws / 3.0, 5 * std::sqrt(kDraws * 2.0 / 9));
}

TEST(CounterRandom, NormalHasMeanZeroAndDeviationOne) {
  CounterRandom random = random_of(13);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

TEST(CounterRandom, BetaHasItsMomentsBelowAndAboveOne) {
  const std::array<std::array<double, 2>, 4> parameters{{{0.2, 0.2}, {1, 1}, {0.8, 2.5}, {3, 3}}};
  for (const auto& [a, b] : parameters) {
    CounterRandom random = random_of(17);
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = random.beta(a, b);
      ASSERT_GE(x, 0);
      ASSERT_LE(x, 1);
      sum += x;
      squares += x * x;
    }
    const double mean = a / (a + b);
    const double variance = a * b / ((a + b) * (a + b) * (a + b + 1));
    EXPECT_NEAR(sum / kDraws, mean, 5 * std::sqrt(variance / kDraws)) << a << ", " << b;
    EXPECT_NEAR(squares / kDraws - mean * mean, variance, 0.01) << a << ", " << b;
  }
}

TEST(CounterRandom, TinyBetaParametersStayFinite) {
  CounterRandom random = random_of(19);
  for (int i = 0; i < 1000; ++i) {
    const double x = random.beta(1e-4, 1e-4);
    ASSERT_TRUE(x >= 0 && x <= 1) << x;
  }
}

}  // namespace
}  // namespace cachet::data
