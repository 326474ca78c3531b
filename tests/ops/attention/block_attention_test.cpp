#include "cachet/ops/attention/block_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;
using test::Tensors;

constexpr int64_t kHeads = 2, kWidth = 4;

// The definition, pair by pair: how often each query counts each key, and which of these are its own last resort.
struct Pairs {
  at::Tensor count, own;  // (B, H, Lq, Lk)
};

Pairs pairs_of(int64_t batch, int64_t lq, int64_t lk, const at::Tensor& blocks, int64_t size,
               const ops::KeysSeen& seen) {
  Pairs pairs{at::zeros({batch, kHeads, lq, lk}, at::kDouble), at::zeros({batch, kHeads, lq, lk}, at::kBool)};
  const auto position = [](const at::Tensor& given, int64_t b, int64_t h, int64_t i) {
    if (!given.defined()) return i;
    return given[given.size(0) == 1 ? 0 : b][given.size(1) == 1 ? 0 : h][i].item<int64_t>();
  };
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t i = 0; i < lq; ++i)
        for (int64_t w = 0; w < blocks.size(2); ++w) {
          const int64_t block = blocks[blocks.size(0) == 1 ? 0 : h][i / size][w].item<int64_t>();
          for (int64_t j = std::max<int64_t>(block, 0) * size; block >= 0 && j < std::min((block + 1) * size, lk);
               ++j) {
            const int64_t key = position(seen.key_positions, b, h, j);
            const int64_t ahead = key - position(seen.query_positions, b, h, i);
            if (key == ops::kSeenByAll || (key >= 0 && ahead >= seen.least && ahead <= seen.most))
              pairs.count[b][h][i][j] += 1;
            if (seen.own_last && ahead == 0) pairs.own[b][h][i][j] = true;
          }
        }
  return pairs;
}

ops::BlockAttended expected_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Pairs& pairs,
                               double scale) {
  const at::Tensor scores = at::matmul(q, k.transpose(2, 3)) * scale + pairs.count.log();
  const at::Tensor others = scores.masked_fill(pairs.own, -std::numeric_limits<double>::infinity());
  const at::Tensor alone = others.logsumexp(-1, true).isinf();
  const at::Tensor used = at::where(alone, scores, others);
  const at::Tensor none = pairs.count.sum(-1).eq(0);
  return {at::matmul(used.softmax(-1).nan_to_num(0.0), v), used.logsumexp(-1).masked_fill(none, ops::kNothingSeen)};
}

at::Tensor random_blocks(int64_t heads, int64_t lq, int64_t lk, int64_t size, int64_t width) {
  return at::randint(-1, (lk + size - 1) / size, {heads, (lq + size - 1) / size, width}, at::kLong);
}

TEST(BlockAttention, EqualsItsDefinitionPairByPair) {
  for (const auto& [lq, lk, size] : {std::tuple{8, 8, 4}, {7, 10, 3}, {5, 2, 4}, {1, 9, 2}, {6, 6, 1}})
    for (const int64_t heads : {int64_t{1}, kHeads})
      for (const int form : {0, 1, 2, 3}) {
        const at::Tensor q = at::randn({2, kHeads, lq, kWidth}, at::kDouble);
        const at::Tensor k = at::randn({2, kHeads, lk, kWidth}, at::kDouble),
                         v = at::randn({2, kHeads, lk, 3}, at::kDouble);
        const at::Tensor blocks = random_blocks(heads, lq, lk, size, 3);
        ops::KeysSeen seen;
        if (form == 1) seen.key_positions = at::randint(-2, 3, {2, 1, lk}, at::kLong);
        if (form == 2)
          seen.least = -2, seen.most = 1, seen.query_positions = at::randint(0, 9, {1, kHeads, lq}, at::kLong);
        if (form == 3) {
          seen.query_positions = at::randint(0, 3, {2, kHeads, lq}, at::kLong);
          seen.key_positions = at::randint(-1, 3, {2, kHeads, lk}, at::kLong);
          seen.own_last = true;
        }
        const auto actual = ops::block_attention(q, k, v, blocks, size, 0.6, seen);
        const auto expected = expected_of(q, k, v, pairs_of(2, lq, lk, blocks, size, seen), 0.6);
        EXPECT_TRUE(at::allclose(actual.output, expected.output, 1e-9, 1e-10)) << lq << 'x' << lk << " form " << form;
        if (form != 3) {  // a query's own key has a score of its own there
          EXPECT_TRUE(at::allclose(actual.logsumexp, expected.logsumexp, 1e-9, 1e-10)) << lq << 'x' << lk;
        }
      }
}

TEST(BlockAttention, GradientsEqualFiniteDifferences) {
  const at::Tensor blocks = at::tensor({0, 1, 1, -1, 2, 0}, at::kLong).view({1, 3, 2});
  ops::KeysSeen seen;
  seen.key_positions = at::tensor({0, 1, 2, 3, -1}, at::kLong).view({1, 1, 5});
  seen.most = 2;
  const at::Tensor weight = at::randn({2, kHeads, 5}, at::kDouble);
  for (const bool shared : {false, true})
    test::expect_gradients(
        [&](const auto& in) {
          const auto [y, sums] = ops::block_attention(in[0], in[1], in[2], blocks, 2, 0.7, seen);
          return y.pow(2).sum() + (sums.clamp_min(-100) * weight).sum();
        },
        {at::randn({2, kHeads, 5, kWidth}), at::randn({shared ? 1 : 2, kHeads, 5, kWidth}),
         at::randn({shared ? 1 : 2, kHeads, 5, 3})});
}

TEST(BlockAttention, FusedEqualsComposite) {
  for (const auto& [lq, lk, size, width] : {std::tuple{64, 64, 32, 32},
                                            {130, 197, 64, 64},
                                            {70, 33, 32, 24},
                                            {5, 3, 4, 7},
                                            {40, 40, 20, 64},
                                            {1, 129, 64, 32}})
    for (const int form : {0, 1, 2, 3, 4}) {
      const at::Tensor blocks = random_blocks(form == 4 ? 3 : 1, lq, lk, size, 4);
      ops::KeysSeen seen;
      if (form == 1) seen.key_positions = at::randint(-2, 3, {2, 1, lk}, at::kLong);
      if (form == 2) seen.least = -5, seen.most = 3;
      if (form == 3) seen.query_positions = at::randint(0, 9, {2, 3, lq}, at::kLong), seen.own_last = true;
      // A token's heads side by side, as projections leave them.
      const auto operand = [&](int64_t batch, int64_t length) {
        return at::randn({batch, length, 3, width}).transpose(1, 2);
      };
      const int64_t context = form == 1 ? 1 : 2;
      test::expect_fused_equals_composite(
          [&](const Tensors& in) -> Tensors {
            const auto [y, sums] = ops::block_attention(in[0], in[1], in[2], blocks, size, 0.2, seen);
            return {y, sums.clamp_min(-100)};
          },
          {operand(2, lq), operand(context, lk), operand(context, lk)},
          std::to_string(lq) + "x" + std::to_string(lk) + " form " + std::to_string(form));
    }
}

TEST(BlockAttention, QueriesThatSeeNothingGetZerosAndNoNaN) {
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const at::Tensor x = at::randn({1, kHeads, 4, kWidth}).to(dtype).requires_grad_();
    const at::Tensor blocks = at::tensor({-1, 0}, at::kLong).view({1, 2, 1});
    const auto [y, sums] = ops::block_attention(x, x, x, blocks, 2, 1.0);
    EXPECT_TRUE(at::equal(y.slice(2, 0, 2), at::zeros({1, kHeads, 2, kWidth}, dtype)));
    EXPECT_TRUE(sums.slice(2, 0, 2).eq(ops::kNothingSeen).all().item<bool>());
    (y.pow(2).sum() + sums.softmax(-1).sum()).backward();
    EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
    for (const int64_t length : {0, 3}) {
      const at::Tensor none = at::randn({1, kHeads, 0, kWidth}).to(dtype),
                       some = at::randn({1, kHeads, length, kWidth}).to(dtype);
      EXPECT_EQ(ops::block_attention(none, some, some, at::zeros({1, 0, 2}, at::kLong), 2, 1.0).output.sizes(),
                none.sizes());
      EXPECT_EQ(ops::block_attention(some, none, none, at::full({1, (length + 1) / 2, 1}, -1, at::kLong), 2, 1.0)
                    .output.abs()
                    .sum()
                    .item<double>(),
                0);
    }
  }
}

TEST(BlockAttention, NamesWhatItRefuses) {
  const at::Tensor q = at::randn({2, kHeads, 4, kWidth}), blocks = at::zeros({1, 2, 1}, at::kLong);
  const auto attend = [&](const at::Tensor& k, const at::Tensor& table, const ops::KeysSeen& seen = {},
                          int64_t size = 2) { return [=] { ops::block_attention(q, k, k, table, size, 1.0, seen); }; };
  expect_refused(attend(at::randn({2, kHeads, 4, 3}), blocks), "k must be (B or 1, H, Lk, d)");
  expect_refused(attend(q, at::zeros({1, 3, 1}, at::kLong)), "blocks must be int64 (H or 1, 2, W)");
  expect_refused(attend(q, blocks.to(at::kInt)), "blocks must be int64");
  expect_refused(attend(q, blocks, {}, 0), "block_size must be at least 1, got 0");
  expect_refused(attend(q, at::full({1, 2, 1}, 2, at::kLong)), "from 0 to 1, the last block of keys, got 2");
  expect_refused(attend(q, at::full({1, 2, 1}, -2, at::kLong)), "from 0 to 1, the last block of keys, got -2");
  ops::KeysSeen seen;
  seen.key_positions = at::zeros({1, 1, 3}, at::kLong);
  expect_refused(attend(q, blocks, seen), "key_positions must be int64 (B, H, L)");
  expect_refused(attend(q.to(at::kDouble), blocks), "q is Float, k Double");
}

}  // namespace
}  // namespace cachet
