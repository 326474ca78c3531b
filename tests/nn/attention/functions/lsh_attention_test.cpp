#include "cachet/nn/attention/functions/lsh_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

TEST(LshBuckets, AreTheNearestOfAllDirectionsAndTheirOpposites) {
  const at::Tensor x = at::randn({2, 3, 7, 4}, at::kDouble), rotations = at::randn({3, 2, 4, 5}, at::kDouble);
  const at::Tensor buckets = nn::lsh_buckets(x, rotations);
  ASSERT_EQ(buckets.sizes(), at::IntArrayRef({2, 3, 2, 7}));
  for (int64_t head = 0; head < 3; ++head)
    for (int64_t round = 0; round < 2; ++round) {
      const at::Tensor along = at::matmul(x.select(1, head), rotations[head][round]);
      EXPECT_TRUE(at::equal(buckets.select(1, head).select(1, round), at::cat({along, -along}, -1).argmax(-1)));
    }
  EXPECT_TRUE(at::equal(nn::lsh_buckets(x * 3, rotations), buckets)) << "an angle, whatever the length";
  EXPECT_TRUE(at::equal(nn::lsh_buckets(-x, rotations), (buckets + 5).remainder(10)));
}

TEST(LshOrder, SortsByBucketThenByPositionAndPutsPaddingLast) {
  const at::Tensor buckets = at::tensor({2, 0, 1, 0, 2, 1}, at::kLong).view({1, 1, 1, 6});
  EXPECT_TRUE(at::equal(nn::lsh_order(buckets, {}).flatten(), at::tensor({1, 3, 2, 5, 0, 4}, at::kLong)));
  const at::Tensor padding = at::tensor({0, 1, 0, 0, 0, 1}).view({1, 6}).to(at::kBool);
  EXPECT_TRUE(at::equal(nn::lsh_order(buckets, padding).flatten(), at::tensor({3, 2, 0, 4, 1, 5}, at::kLong)));
}

// The definition for a context of its own: every query of chunk i with the keys of its two chunks, one by one.
at::Tensor dense_lsh(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& query_order,
                     const at::Tensor& key_order, const nn::LshOptions& options, const at::Tensor& padding) {
  const int64_t rounds = query_order.size(2), lq = q.size(2), lk = k.size(2), chunk = options.chunk_size;
  // How many positions a round takes: its tokens, or whole chunks of them.
  const auto slots = [&](int64_t tokens) {
    return options.pattern_length == nn::PatternLength::batch ? tokens : (tokens + chunk - 1) / chunk * chunk;
  };
  const int64_t chunks = (rounds * slots(lq) + chunk - 1) / chunk, context = (rounds * slots(lk) + chunk - 1) / chunk;
  const at::Tensor unit = k / (k.square().sum(-1, true) + static_cast<double>(k.size(3)) * 1e-6).sqrt();
  const at::Tensor products = at::matmul(q, unit.transpose(2, 3));
  at::Tensor counts = at::zeros({q.size(0), q.size(1), rounds, lq, lk}, at::kDouble);
  for (int64_t b = 0; b < q.size(0); ++b)
    for (int64_t h = 0; h < q.size(1); ++h) {
      const at::Tensor from = query_order[b][h].flatten(), to = key_order[b][h].flatten();
      for (int64_t i = 0; i < rounds * lq; ++i) {
        const int64_t own_query = (i / lq * slots(lq) + i % lq) / chunk;
        const int64_t own = own_query * context / chunks, before = (own + context - 1) % context;
        for (int64_t j = 0; j < rounds * lk; ++j) {
          const auto key = to[j].item<int64_t>();
          const int64_t own_key = (j / lk * slots(lk) + j % lk) / chunk;
          const bool met = own_key == own || (context > 1 && own_key == before);
          if (met && !(padding.defined() && padding[b][key].item<bool>()))
            counts[b][h][i / lq][from[i].item<int64_t>()][key] += 1;
        }
      }
    }
  const at::Tensor scores = products.unsqueeze(2) + counts.log();
  const at::Tensor sums = scores.logsumexp(-1, true).clamp_min(-1e30);
  const at::Tensor rounds_weights = sums.softmax(2);
  return (at::matmul(scores.softmax(-1).nan_to_num(0.0), v.unsqueeze(2)) * rounds_weights).sum(2);
}

TEST(LshAttention, AContextOfItsOwnIsSortedBesideTheQueries) {
  for (const auto& [lq, lk, rounds, rule] : {std::tuple{12, 12, 1, nn::PatternLength::model},
                                             {13, 7, 1, nn::PatternLength::model},
                                             {5, 22, 1, nn::PatternLength::model},
                                             {11, 9, 2, nn::PatternLength::model},
                                             {3, 2, 3, nn::PatternLength::model},
                                             {8, 1, 1, nn::PatternLength::model},
                                             {12, 12, 1, nn::PatternLength::batch},
                                             {11, 9, 2, nn::PatternLength::batch},
                                             {3, 2, 3, nn::PatternLength::batch}})
    for (const bool padded : {false, true}) {
      nn::LshOptions options;
      options.pattern_length = rule;
      options.chunk_size = 4;
      options.rounds = rounds;
      const at::Tensor q = at::randn({2, 2, lq, 4}, at::kDouble), k = at::randn({2, 2, lk, 4}, at::kDouble),
                       v = at::randn({2, 2, lk, 3}, at::kDouble);
      const at::Tensor rotations = at::randn({2, rounds, 4, 3}, at::kDouble);
      nn::AttentionArgs args;
      if (padded) {
        args.context.padding = at::zeros({2, lk}, at::kBool);
        args.context.padding[0].slice(0, lk / 2).fill_(true);
      }
      const at::Tensor query_order = nn::lsh_order(nn::lsh_buckets(q, rotations), {});
      const at::Tensor key_order = nn::lsh_order(nn::lsh_buckets(k, rotations), args.context.padding);
      EXPECT_TRUE(at::allclose(nn::lsh_attention(q, k, v, query_order, key_order, options, args),
                               dense_lsh(q, k, v, query_order, key_order, options, args.context.padding), 1e-9, 1e-10))
          << lq << 'x' << lk << ", " << rounds << " rounds, padded " << padded;
    }
}

TEST(LshAttention, ASequenceIsAnsweredAsIfItWerePaddedToTheFullLength) {
  for (const int64_t rounds : {1, 3})
    for (const int64_t full : {10, 12, 25})
      for (const int64_t length : {1, 3, 4, 9, 10, 12, 18, 25}) {
        if (length > full) continue;
        nn::LshOptions options{4, 6, rounds};
        nn::LshAttention attention(options, 2, 4);
        attention.eval();
        attention.to(at::kDouble);
        const at::Tensor x = at::randn({2, 2, full, 4}, at::kDouble), v = at::randn({2, 2, full, 3}, at::kDouble);
        const at::Tensor padding = (at::arange(full) >= length).expand({2, full});
        const auto answer = [&](int64_t tokens) {
          const auto layout = nn::AttentionArgs::self({{}, 0, padding.slice(1, 0, tokens), full});
          const at::Tensor given = x.slice(2, 0, tokens);
          return attention.forward(given, given, v.slice(2, 0, tokens), layout).slice(2, 0, length);
        };
        const at::Tensor padded = answer(full);
        for (const int64_t tokens : {length, std::min(full, length + 5)})
          EXPECT_TRUE(at::allclose(answer(tokens), padded, 1e-9, 1e-10))
              << length << " in " << tokens << " of " << full << ", " << rounds << " rounds";
      }
}

TEST(LshAttention, QueriesMeetTheSameChunksOfAContextWhateverTheBatch) {
  for (const int64_t rounds : {1, 2}) {
    nn::LshAttention attention({4, 6, rounds}, 2, 4);
    attention.eval();
    const at::Tensor q = at::randn({1, 2, 40, 4}), k = at::randn({1, 2, 30, 4});
    nn::AttentionArgs args;
    args.query.full_length = 40;
    args.query.padding = (at::arange(40) >= 21).unsqueeze(0);
    const at::Tensor whole = attention.forward(q, k, k, args).slice(2, 0, 21);
    args.query.padding = at::Tensor();
    EXPECT_TRUE(at::allclose(attention.forward(q.slice(2, 0, 21), k, k, args), whole, 1e-5, 1e-6));
  }
}

TEST(LshAttention, AShortSequenceIsSoftmaxAttentionWithoutOneself) {
  nn::LshOptions options;
  nn::LshAttention attention(options, 2, 4);
  attention.to(at::kDouble);
  const at::Tensor x = at::randn({2, 2, 9, 4}, at::kDouble), v = at::randn({2, 2, 9, 3}, at::kDouble);
  const at::Tensor unit = x / (x.square().sum(-1, true) + 4e-6).sqrt();
  const at::Tensor scores = at::matmul(x, unit.transpose(2, 3));
  const at::Tensor others = scores.masked_fill(at::eye(9, at::kBool), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(at::allclose(attention.forward(x, x, v, {}), at::matmul(others.softmax(-1), v), 1e-9, 1e-10));
  const at::Tensor one = x.slice(2, 0, 1);
  EXPECT_TRUE(at::allclose(attention.forward(one, one, v.slice(2, 0, 1), {}), v.slice(2, 0, 1)))
      << "itself if it is alone";
}

TEST(LshAttention, GradientsEqualFiniteDifferences) {
  nn::LshOptions options;
  options.chunk_size = 3;
  for (const auto& [score, rounds, rule] : {std::tuple{nn::LshScore::unit, 1, nn::PatternLength::model},
                                            {nn::LshScore::scaled, 1, nn::PatternLength::model},
                                            {nn::LshScore::unit, 2, nn::PatternLength::model},
                                            {nn::LshScore::scaled, 2, nn::PatternLength::model},
                                            {nn::LshScore::unit, 2, nn::PatternLength::batch},
                                            {nn::LshScore::scaled, 2, nn::PatternLength::batch}}) {
    options.score = score;
    options.rounds = rounds;
    options.pattern_length = rule;
    const at::Tensor order = nn::lsh_order(at::randint(0, 4, {2, 2, rounds, 8}, at::kLong), {});
    test::expect_gradients(
        [&](const auto& in) { return nn::lsh_attention(in[0], in[0], in[1], order, order, options, {}).pow(2).sum(); },
        {at::randn({2, 2, 8, 4}), at::randn({2, 2, 8, 3})});
    const at::Tensor context = nn::lsh_order(at::randint(0, 4, {1, 2, rounds, 5}, at::kLong), {});
    test::expect_gradients(
        [&](const auto& in) {
          return nn::lsh_attention(in[0], in[1], in[2], order, context, options, {}).pow(2).sum();
        },
        {at::randn({2, 2, 8, 4}), at::randn({1, 2, 5, 4}), at::randn({1, 2, 5, 3})});
  }
}

TEST(LshAttention, TrainingDrawsFromTheGeneratorAndEvaluationDoesNot) {
  nn::LshOptions options;
  options.chunk_size = 4;
  options.buckets = 8;
  nn::LshAttention attention(options, 2, 4);
  const at::Tensor x = at::randn({1, 2, 64, 4}), rotations = attention.named_buffers()["rotations"].clone();
  EXPECT_EQ(rotations.sizes(), at::IntArrayRef({2, 1, 4, 4}));
  const auto seeded = [&](uint64_t seed) {
    at::manual_seed(seed);
    return attention.forward(x, x, x, {});
  };
  const at::Tensor first = seeded(1);
  EXPECT_TRUE(at::equal(seeded(1), first));
  EXPECT_FALSE(at::equal(seeded(2), first));
  attention.eval();
  at::manual_seed(5);
  const at::Tensor evaluated = attention.forward(x, x, x, {}), next = at::rand({4});
  at::manual_seed(5);
  EXPECT_TRUE(at::equal(at::rand({4}), next)) << "evaluation draws nothing";
  EXPECT_TRUE(at::equal(attention.forward(x, x, x, {}), evaluated));
  EXPECT_TRUE(at::equal(attention.named_buffers()["rotations"], rotations));
}

TEST(LshAttention, QueriesAndKeysShareAProjection) {
  for (const auto projection : {nn::Projection::fused, nn::Projection::separate})
    for (const bool biased : {false, true}) {
      nn::AttentionOptions options;
      options.function = nn::LshOptions{};
      options.qkv_bias = biased;
      nn::MultiHeadAttention attention({8, 2, options, projection});
      const auto parameters = attention.named_parameters();
      EXPECT_EQ(parameters["qk_v.weight"].sizes(), at::IntArrayRef({16, 8}));
      EXPECT_FALSE(parameters.contains("qkv.weight") || parameters.contains("q.weight"));
      attention.eval();
      // A context of the same numbers, which is another tensor: the rule against oneself is the only difference.
      const at::Tensor x = at::randn({2, 1, 8}), copy = x.clone();
      EXPECT_TRUE(at::allclose(attention.forward(x, x, {}), attention.forward(x, copy, {}), 1e-5, 1e-6));
      EXPECT_EQ(attention.forward(x, at::randn({1, 20, 8}), {}).sizes(), x.sizes());
    }
}

TEST(LshAttention, NamesWhatItRefuses) {
  const at::Tensor x = at::randn({1, 2, 9, 4});
  nn::LshAttention attention({}, 2, 4);
  nn::AttentionArgs causal, biased;
  causal.causal = true;
  biased.bias = at::zeros({1, 1, 9, 9});
  expect_refused([&] { attention.forward(x, x, x, causal); }, "lsh_attention: has no causal form");
  expect_refused([&] { attention.forward(x, x, x, biased); }, "lsh_attention: cannot use an attention bias");
  nn::LshOptions odd, none, never;
  odd.buckets = 7;
  none.chunk_size = 0;
  never.rounds = 0;
  expect_refused([&] { nn::LshAttention(odd, 2, 4); }, "buckets must be even");
  expect_refused([&] { nn::LshAttention(none, 2, 4); }, "chunk_size must be at least 1");
  expect_refused([&] { nn::LshAttention(never, 2, 4); }, "rounds must be at least 1");
}

}  // namespace
}  // namespace cachet
