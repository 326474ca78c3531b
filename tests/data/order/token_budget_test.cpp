#include "cachet/data/order/token_budget.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>

#include "tests/data/order/order_checks.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

Lengths lengths_of(std::vector<int64_t> lengths) { return std::make_shared<std::vector<int64_t>>(std::move(lengths)); }

Lengths positive_lengths(int64_t size, uint64_t seed = 1) {
  std::vector<int64_t> lengths = *test::drawn_lengths(size, seed);
  for (int64_t& length : lengths) ++length;
  return lengths_of(std::move(lengths));
}

// The places of a batch on one side, padding included.
int64_t padded_tokens(const std::vector<int64_t>& batch, const Lengths& side) {
  int64_t longest = 0;
  for (const int64_t i : batch) longest = std::max(longest, (*side)[static_cast<size_t>(i)]);
  return longest * static_cast<int64_t>(batch.size());
}

std::set<std::set<int64_t>> compositions(const BatchOrder& order, int64_t epoch) {
  std::set<std::set<int64_t>> batches;
  for (int64_t number = 0; number < order.batches(); ++number) {
    const auto batch = order.epoch(epoch).place(number).indices();
    batches.emplace(batch.begin(), batch.end());
  }
  return batches;
}

TEST(TokenBudget, KeepsTheContractOfOrders) {
  const std::vector<Lengths> sides{positive_lengths(300), positive_lengths(300, 2)};
  test::expect_keeps_the_contract([&](Shard shard) {
    return std::make_shared<TokenBudget>(sides, TokenBudgetOptions{.max_tokens = 5000, .seed = 3}, shard);
  });
}

TEST(TokenBudget, FillsBatchesUpToTheBudgetOnBothSides) {
  const Lengths first = positive_lengths(1000), second = positive_lengths(1000, 2);
  const TokenBudget order({first, second}, {.max_tokens = 8000, .seed = 3});
  const EpochOrder batches = order.epoch(2);
  int64_t places = 0, tokens = 0;
  for (int64_t number = 0; number < order.batches(); ++number) {
    const auto batch = batches.place(number).indices();
    ASSERT_FALSE(batch.empty());
    EXPECT_LE(padded_tokens(batch, first), 8000);
    EXPECT_LE(padded_tokens(batch, second), 8000);
    places += std::max(padded_tokens(batch, first), padded_tokens(batch, second));
    for (const int64_t i : batch)
      tokens += std::max((*first)[static_cast<size_t>(i)], (*second)[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(test::sorted(test::visited(order, 2)), test::counted(1000));
  // Grouped by length, hardly anything is padding; and but for the last batch each is as full as a sample more allows.
  EXPECT_LT(places, tokens + tokens / 20);
  EXPECT_GT(places, order.batches() * 8000 * 85 / 100);
}

TEST(TokenBudget, CutsTheSameBatchesForEveryEpochAndShufflesThem) {
  const std::vector<Lengths> sides{positive_lengths(500)};
  const TokenBudget order(sides, {.max_tokens = 5000, .seed = 3});
  EXPECT_NE(test::visited(order, 0), test::visited(order, 1));
  EXPECT_EQ(compositions(order, 0), compositions(order, 1));
  EXPECT_EQ(test::visited(order, 4), test::visited(TokenBudget(sides, {.max_tokens = 5000, .seed = 3}), 4));
}

TEST(TokenBudget, TheSeedDrawsWhichSamplesOfOneLengthAreTogether) {
  const std::vector<Lengths> sides{lengths_of(std::vector<int64_t>(200, 10))};
  const TokenBudget one(sides, {.max_tokens = 100, .seed = 1}), other(sides, {.max_tokens = 100, .seed = 2});
  EXPECT_EQ(one.batches(), 20);
  EXPECT_NE(compositions(one, 0), compositions(other, 0));
}

TEST(TokenBudget, GoesFromShortToLongWithoutShuffling) {
  const TokenBudget order({lengths_of({3, 1, 2, 1, 9})}, {.max_tokens = 9, .shuffle = false});
  std::vector<std::set<int64_t>> batches;
  for (int64_t number = 0; number < order.batches(); ++number) {
    const auto batch = order.epoch(6).place(number).indices();
    batches.emplace_back(batch.begin(), batch.end());
  }
  EXPECT_EQ(batches, (std::vector<std::set<int64_t>>{{1, 2, 3}, {0}, {4}})) << "3 · 4 tokens are more than 9";
}

TEST(TokenBudget, HoldsNoMoreSamplesThanAsked) {
  const TokenBudget order({lengths_of(std::vector<int64_t>(10, 1))}, {.max_tokens = 1000, .max_samples = 4});
  EXPECT_EQ(order.batches(), 3);
  for (int64_t number = 0; number < 3; ++number) EXPECT_LE(order.epoch(0).place(number).samples.size(), 4u);
}

TEST(TokenBudget, AFewLongSamplesLeaveSomeShardsWithoutAny) {
  const auto batch_of = [](int64_t rank) {
    return TokenBudget({lengths_of({100, 100})}, {.max_tokens = 100, .shuffle = false}, {rank, 2}).epoch(0);
  };
  ASSERT_EQ(batch_of(1).batches(), 2);
  EXPECT_EQ(batch_of(0).place(0).samples.size(), 1u);
  EXPECT_TRUE(batch_of(1).place(0).samples.empty());
}

TEST(TokenBudget, MayBeEmptyOrHuge) {
  EXPECT_EQ(TokenBudget({lengths_of({})}, {}).batches(), 0);
  EXPECT_EQ(TokenBudget({lengths_of({})}, {}).epoch(0).batches(), 0);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(TokenBudget({lengths_of({kMax, 1, kMax})}, {.max_tokens = kMax}).batches(), 3);
}

TEST(TokenBudget, NamesWhatCannotBe) {
  const auto message = [](const std::vector<Lengths>& sides, TokenBudgetOptions options) {
    return test::thrown_message<std::invalid_argument>([&] { TokenBudget(sides, options); });
  };
  EXPECT_EQ(message({lengths_of({5, 80}), lengths_of({5, 101})}, {.max_tokens = 100}),
            "sample 1 has 101 tokens with padding, but a batch has at most 100 tokens; raise max_tokens, or cut long "
            "samples");
  EXPECT_EQ(message({lengths_of({5, 0})}, {}), "sample 1 has no tokens");
  EXPECT_EQ(message({lengths_of({5}), lengths_of({5, 6})}, {}),
            "both lists must have the same number of lengths, but one list has 1 and the other list has 2");
  EXPECT_NE(message({}, {}), "");
  EXPECT_NE(message({nullptr}, {}), "");
  EXPECT_NE(message({lengths_of({1}), lengths_of({1}), lengths_of({1})}, {}), "");
  EXPECT_NE(message({lengths_of({1})}, {.max_tokens = 0}), "");
  EXPECT_NE(message({lengths_of({1})}, {.max_samples = -1}), "");
}

TEST(TokenBudgetOptions, AreReadFromARecipe) {
  auto document = config::Document::from_text("max_tokens = 25000\nmax_samples = 512", "recipe.toml");
  const TokenBudgetOptions options = read_token_budget_options(document.root());
  document.finish();
  EXPECT_EQ(options.max_tokens, 25'000);
  EXPECT_EQ(options.max_samples, 512);
  auto bad = config::Document::from_text("max_tokens = 0\nmax_samples = -1", "recipe.toml");
  read_token_budget_options(bad.root());
  const std::string said = test::thrown_message<config::Error>([&] { bad.finish(); });
  EXPECT_NE(said.find("recipe.toml:1"), std::string::npos) << said;
  EXPECT_NE(said.find("recipe.toml:2"), std::string::npos) << said;
}

}  // namespace
}  // namespace cachet::data
