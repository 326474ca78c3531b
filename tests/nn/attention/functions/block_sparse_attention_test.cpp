#include "cachet/nn/attention/functions/block_sparse_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "cachet/nn/attention/functions/softmax_attention.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

at::Tensor some_draws(int64_t heads, int64_t rows, int64_t count) {
  return at::randint(int64_t{1} << 31, {heads, rows, count}, at::kLong);
}

TEST(ChooseRandomBlocks, GivesBlocksThatAreNeitherGlobalNorInTheWindowNorTwice) {
  for (const int64_t context : {1, 2, 3, 5, 6, 7, 9, 40})
    for (const int64_t queries : {3, 4, 9, 40})
      for (const int64_t window : {1, 3, 5}) {
        const at::Tensor chosen = nn::choose_random_blocks(some_draws(2, 7, 3), queries, context, window);
        ASSERT_EQ(chosen.sizes(), at::IntArrayRef({2, queries - 2, 3}));
        for (int64_t head = 0; head < 2; ++head)
          for (int64_t row = 1; row < queries - 1; ++row) {
            const int64_t own = row * context / queries;
            int64_t others = 0;
            for (int64_t j = 1; j < context - 1; ++j) others += std::abs(j - own) > window / 2;
            std::set<int64_t> seen;
            for (int64_t i = 0; i < 3; ++i) {
              const auto block = chosen[head][row - 1][i].item<int64_t>();
              if (block < 0) continue;
              EXPECT_TRUE(block >= 1 && block <= context - 2 && std::abs(block - own) > window / 2)
                  << block << " of " << context << " for row " << row;
              EXPECT_TRUE(seen.insert(block).second);
            }
            EXPECT_EQ(static_cast<int64_t>(seen.size()), std::min<int64_t>(3, others));
          }
      }
}

TEST(ChooseRandomBlocks, DrawsAllOfThemEquallyOften) {
  // Row 4 of 10 with a window of 3 leaves blocks 1, 2, 6, 7, 8: three of five each time.
  const at::Tensor chosen = nn::choose_random_blocks(some_draws(4000, 8, 3), 10, 10, 3).select(1, 3);
  const at::Tensor counts = at::bincount(chosen.flatten(), {}, 10);
  for (const int64_t block : {1, 2, 6, 7, 8})  // binomial: 2400 ± 31, five deviations
    EXPECT_NEAR(counts[block].item<double>(), 2400, 155) << block;
  EXPECT_EQ(counts.sum().item<int64_t>(), 12000);
}

// The dense form: every pair of blocks that the table names, and the rows of the first and the last block.
at::Tensor dense_big_bird(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& random,
                          const nn::BigBirdOptions& o, const at::Tensor& padding) {
  const int64_t lq = q.size(2), lk = k.size(2), heads = q.size(1);
  const int64_t rows = (lq + o.block_size - 1) / o.block_size, columns = (lk + o.block_size - 1) / o.block_size;
  at::Tensor bias = at::full({heads, rows, columns}, -std::numeric_limits<double>::infinity(), at::kDouble);
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        const int64_t own = row * columns / rows;
        bool met = row == 0 || row == rows - 1 || column == 0 || column == columns - 1 ||
                   std::abs(column - own) <= o.window / 2;
        for (int64_t i = 0; !met && i < random.size(2); ++i) met = random[head][row - 1][i].item<int64_t>() == column;
        if (met) bias[head][row][column] = 0;
      }
  nn::AttentionArgs args;
  args.bias = bias.repeat_interleave(o.block_size, 1)
                  .repeat_interleave(o.block_size, 2)
                  .slice(1, 0, lq)
                  .slice(2, 0, lk)
                  .unsqueeze(0);
  args.context.padding = padding;
  return nn::softmax_attention(q, k, v, args).nan_to_num(0.0);
}

TEST(BlockSparseAttention, EqualsTheDenseFormForAllLengths) {
  for (const auto& [lq, lk] :
       {std::pair{3, 3}, {8, 8}, {9, 9}, {40, 40}, {41, 42}, {40, 12}, {12, 40}, {30, 1}, {1, 30}})
    for (const int64_t random_blocks : {0, 3})
      for (const bool padded : {false, true}) {
        const nn::BigBirdOptions options{4, 3, random_blocks};
        const int64_t rows = std::max<int64_t>((lq + 3) / 4, 2);
        const at::Tensor random = nn::choose_random_blocks(some_draws(2, 5, random_blocks), rows, (lk + 3) / 4, 3);
        const at::Tensor q = at::randn({2, 2, lq, 4}, at::kDouble), k = at::randn({2, 2, lk, 4}, at::kDouble),
                         v = at::randn({2, 2, lk, 3}, at::kDouble);
        nn::AttentionArgs args;
        if (padded) {
          args.context.padding = at::zeros({2, lk}, at::kBool);
          args.context.padding[0].slice(0, lk / 2).fill_(true);
          args.context.padding[1].fill_(true);  // a sample without any key
        }
        EXPECT_TRUE(at::allclose(nn::block_sparse_attention(q, k, v, random, options, args),
                                 dense_big_bird(q, k, v, random, options, args.context.padding), 1e-9, 1e-10))
            << lq << 'x' << lk << ", " << random_blocks << " random, padded " << padded;
      }
}

nn::AttentionArgs args_of_length(int64_t full_length, const at::Tensor& padding = {}) {
  return nn::AttentionArgs::self({{}, 0, padding, full_length});
}

TEST(BlockSparseAttention, ASequenceIsAnsweredAsIfItWerePaddedToTheFullLength) {
  for (const int64_t random_blocks : {0, 2}) {
    nn::BlockSparseAttention attention({4, 3, random_blocks}, 2);
    for (const int64_t full : {9, 12, 40, 41, 43})
      for (const int64_t length : {1, 4, 5, 8, 9, 23, 36, 37, 40}) {
        if (length > full) continue;
        const at::Tensor q = at::randn({2, 2, full, 4}, at::kDouble), k = at::randn({2, 2, full, 4}, at::kDouble),
                         v = at::randn({2, 2, full, 3}, at::kDouble);
        const at::Tensor padding = (at::arange(full) >= length).expand({2, full});
        const at::Tensor padded = attention.forward(q, k, v, args_of_length(full, padding)).slice(2, 0, length);
        const auto first = [&](const at::Tensor& x, int64_t tokens) { return x.slice(2, 0, tokens); };
        const at::Tensor alone =
            attention.forward(first(q, length), first(k, length), first(v, length), args_of_length(full));
        EXPECT_TRUE(at::allclose(alone, padded, 1e-9, 1e-10)) << length << " of " << full;
        const int64_t longer = std::min(full, length + 6);  // next to a longer sequence
        const at::Tensor beside = attention.forward(first(q, longer), first(k, longer), first(v, longer),
                                                    args_of_length(full, padding.slice(1, 0, longer)));
        EXPECT_TRUE(at::allclose(first(beside, length), padded, 1e-9, 1e-10)) << length << " in " << longer;
      }
  }
}

TEST(BlockSparseAttention, QueriesStandAtTheSamePlaceOfAContextWhateverTheBatch) {
  nn::BlockSparseAttention attention({4, 1, 1}, 2);
  const at::Tensor q = at::randn({1, 2, 40, 4}, at::kDouble), k = at::randn({1, 2, 29, 4}, at::kDouble);
  nn::AttentionArgs args;
  args.query.full_length = 40;
  const at::Tensor whole = attention.forward(q, k, k, args);
  EXPECT_TRUE(at::allclose(attention.forward(q.slice(2, 0, 21), k, k, args), whole.slice(2, 0, 21), 1e-9, 1e-10));
}

TEST(BlockSparseAttention, TheRuleOf010FollowsTheTokensAtHand) {
  nn::BigBirdOptions by_batch{4, 1, 1};
  by_batch.pattern_length = nn::PatternLength::batch;
  nn::BlockSparseAttention attention({4, 1, 1}, 2), earlier(by_batch, 2);
  earlier.named_buffers()["draws"].copy_(attention.named_buffers()["draws"]);
  const at::Tensor x = at::randn({1, 2, 24, 4});
  EXPECT_TRUE(at::equal(earlier.forward(x, x, x, args_of_length(40)), attention.forward(x, x, x, {})));
  EXPECT_FALSE(
      at::allclose(earlier.forward(x, x, x, args_of_length(40)), attention.forward(x, x, x, args_of_length(40))));
}

TEST(BlockSparseAttention, GradientsEqualFiniteDifferences) {
  nn::BlockSparseAttention attention({2, 1, 1}, 2);
  nn::AttentionArgs args;
  args.context.padding = at::zeros({2, 9}, at::kBool);
  args.context.padding[1].slice(0, 6).fill_(true);
  for (const int64_t full_length : {0, 15}) {
    args.query.full_length = args.context.full_length = full_length;
    test::expect_gradients([&](const auto& in) { return attention.forward(in[0], in[1], in[2], args).pow(2).sum(); },
                           {at::randn({2, 2, 9, 3}), at::randn({2, 2, 9, 3}), at::randn({2, 2, 9, 2})});
  }
}

TEST(BlockSparseAttention, HasOnePatternInTrainingEvaluationAndAfterLoading) {
  nn::BlockSparseAttention attention({2, 3, 2}, 2);
  const at::Tensor draws = attention.named_buffers()["draws"];
  EXPECT_EQ(draws.sizes(), at::IntArrayRef({2, 256, 2})) << "of no length";
  const at::Tensor x = at::randn({1, 2, 31, 4}), before = draws.clone();
  const at::Tensor trained = attention.forward(x, x, x, {});
  attention.eval();
  EXPECT_TRUE(at::equal(attention.forward(x, x, x, {}), trained));
  EXPECT_TRUE(at::equal(draws, before));
  nn::BlockSparseAttention other({2, 3, 2}, 2);
  EXPECT_FALSE(at::equal(other.forward(x, x, x, {}), trained)) << "each layer draws its own";
  other.named_buffers()["draws"].copy_(draws);
  EXPECT_TRUE(at::equal(other.forward(x, x, x, {}), trained));
  attention.to(at::kBFloat16);
  EXPECT_TRUE(at::equal(attention.named_buffers()["draws"], before)) << "numbers of blocks stay whole numbers";
}

TEST(BlockSparseAttention, NamesWhatItRefuses) {
  const at::Tensor x = at::randn({1, 2, 31, 4});
  nn::BlockSparseAttention attention({2, 3, 2}, 2);
  nn::AttentionArgs causal, biased;
  causal.causal = true;
  biased.bias = at::zeros({1, 1, 31, 31});
  test::expect_refused([&] { attention.forward(x, x, x, causal); }, "block_sparse_attention: has no causal form");
  test::expect_refused([&] { attention.forward(x, x, x, biased); },
                       "block_sparse_attention: cannot use an attention bias");
  test::expect_refused([] { nn::BlockSparseAttention({2, 4, 2}, 2); }, "window must be odd");
  test::expect_refused([] { nn::BlockSparseAttention({0, 3, 2}, 2); }, "block_size must be at least 1");
  test::expect_refused([] { nn::BlockSparseAttention({2, 3, -1}, 2); }, "random_blocks must be at least 0");
}

}  // namespace
}  // namespace cachet
