#include "cachet/nn/cache/fifo_cache.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/cached_layer.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::make_cached;
using test::memory_of;
using test::run;
using test::stored_tokens;

// Layers of 8 channels whose cache has four slots of four channels. The numbers of whole layers are checked against the
// fixtures, in cached_attention_oracle_test.cpp.

at::Tensor first_channels(const at::Tensor& x) { return x.narrow(2, 0, 4); }

TEST(FifoCache, GivesItsBuffer) {
  const nn::FifoCache cache({.length = 3}, 8, 4);
  EXPECT_EQ(cache.stored_tokens().sizes(), at::IntArrayRef({1, 3, 4}));
  EXPECT_TRUE(cache.stored_tokens().is_same(cache.named_buffers()[nn::Cache::kTokens])) << "no copy";
  EXPECT_STREQ(nn::Cache::kTokens, "tokens") << "the name in checkpoints";
}

TEST(FifoCache, StoresTheMeanOfTheLastTokensOldestFirst) {
  const auto layer = make_cached(nn::FifoCacheOptions{.length = 4});
  EXPECT_TRUE(at::equal(stored_tokens(*layer), at::zeros({1, 4, 4}, at::kDouble)));
  const at::Tensor first = at::randn({2, 3, 8}, at::kDouble), second = at::randn({2, 3, 8}, at::kDouble);
  run(*layer, first);
  run(*layer, second);
  // The last four of a zero, the first three tokens and the second three.
  const at::Tensor all = at::cat({first_channels(first), first_channels(second)}, 1);
  EXPECT_TRUE(at::allclose(stored_tokens(*layer), all.mean(0, /*keepdim=*/true).narrow(1, 2, 4), 0, 1e-15));
}

TEST(FifoCache, ASegmentLongerThanTheCacheLeavesItsEnd) {
  const auto layer = make_cached(nn::FifoCacheOptions{.length = 4});
  const at::Tensor x = at::randn({1, 9, 8}, at::kDouble);
  run(*layer, x);
  EXPECT_TRUE(at::equal(stored_tokens(*layer), first_channels(x).narrow(1, 5, 4)));
}

TEST(FifoCache, MemoryAttentionReadsTheCacheBeforeTheSegment) {
  const auto layer = make_cached(nn::FifoCacheOptions{.length = 4});
  EXPECT_EQ(memory_of(*layer, at::randn({2, 3, 8}, at::kDouble)).abs().sum().item<double>(), 0);
  const at::Tensor before = stored_tokens(*layer);
  EXPECT_TRUE(at::equal(memory_of(*layer, at::randn({2, 3, 8}, at::kDouble)), before));
  EXPECT_FALSE(at::equal(stored_tokens(*layer), before));
}

TEST(FifoCache, PaddingIsNotStored) {
  const auto layer = make_cached(nn::FifoCacheOptions{.length = 4});
  const at::Tensor x = at::randn({1, 5, 8}, at::kDouble);
  nn::TokenLayout tokens;
  tokens.padding = at::tensor({0, 1, 0, 1, 1}).to(at::kBool).view({1, 5});
  run(*layer, x, nn::AttentionArgs::self(tokens));
  const at::Tensor valid = first_channels(x).index_select(1, at::tensor({0, 2}));
  EXPECT_TRUE(at::equal(stored_tokens(*layer), at::cat({at::zeros({1, 2, 4}, at::kDouble), valid}, 1)));
}

TEST(FifoCache, EvaluationStoresNothingInTheModelAndLanesMoveOn) {
  const at::Tensor x = at::randn({2, 3, 8}, at::kDouble);
  const auto rests = make_cached(nn::FifoCacheOptions{.length = 4});
  run(*rests, x);
  rests->eval();
  const at::Tensor before = stored_tokens(*rests);
  run(*rests, at::randn({2, 3, 8}, at::kDouble));
  EXPECT_TRUE(at::equal(stored_tokens(*rests), before));

  const auto moves = make_cached(nn::FifoCacheOptions{.length = 4, .scope = nn::CacheScope::batch_row});
  moves->eval();
  const auto state = moves->make_state(2, nn::SessionUse::segments);
  nn::AttentionArgs args;
  args.state = state.get();
  run(*moves, x, args);
  const at::Tensor expected = at::cat({at::zeros({2, 1, 4}, at::kDouble), first_channels(x)}, 1);
  EXPECT_TRUE(at::equal(memory_of(*moves, x, args), expected)) << "each lane has its own tokens";
  EXPECT_EQ(stored_tokens(*moves).abs().sum().item<double>(), 0);
}

TEST(FifoCache, StoresNoGraph) {
  const auto layer = make_cached(nn::FifoCacheOptions{.length = 4});
  run(*layer, at::randn({2, 3, 8}, at::kDouble).requires_grad_());
  EXPECT_FALSE(layer->named_buffers()["cache.tokens"].requires_grad());
}

TEST(FifoCache, ALaneNeedsTheState) {
  const auto layer = make_cached(nn::FifoCacheOptions{.scope = nn::CacheScope::batch_row});
  test::expect_refused(
      [&] {
        run(*layer, at::randn({2, 4, 8}, at::kDouble));
      },
      "fifo_cache: `scope = \"lane\"` needs the session's state");
}

}  // namespace
}  // namespace cachet
