#include "cachet/nn/attention/functions/performer_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "tests/support/autocast.h"
#include "tests/support/decoding_check.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

constexpr nn::RandomFeatures kForms[]{nn::RandomFeatures::softmax, nn::RandomFeatures::relu};

nn::PerformerOptions performer_options(nn::RandomFeatures form, int64_t count = 0) {
  nn::PerformerOptions options;
  options.form = form;
  options.count = count;
  return options;
}

TEST(OrthogonalFeatures, AreOrthogonalInBlocksAndAsLongAsNormalVectors) {
  const at::Tensor features = nn::orthogonal_features(5000, 8, at::kDouble);
  const at::Tensor block = features.narrow(0, 16, 8), gram = at::matmul(block, block.t());
  EXPECT_TRUE(at::allclose(gram, gram.diagonal().diag(), 1e-9, 1e-9));
  const at::Tensor squares = features.square().sum(1);  // χ² of 8 degrees: mean 8, variance 16
  EXPECT_NEAR(squares.mean().item<double>(), 8, 5 * 4 / std::sqrt(5000.0));
  EXPECT_NEAR(squares.var().item<double>(), 16, 2.5);
  EXPECT_EQ(nn::orthogonal_features(3, 8, at::kFloat).sizes(), at::IntArrayRef({3, 8}));
}

TEST(PerformerAttention, FeaturesAreFloat32UnderAutocast) {
  for (const auto form : kForms) {
    nn::PerformerAttention attention(performer_options(form), 2, 16);
    const at::Tensor x = at::randn({1, 2, 6, 16}) * 3;
    const at::Tensor queries = attention.query_features(x), keys = attention.key_features(x, {});
    const test::BFloat16Autocast autocast;
    EXPECT_TRUE(at::equal(attention.query_features(x), queries));
    EXPECT_TRUE(at::equal(attention.key_features(x, {}), keys));
  }
}

TEST(PerformerAttention, EstimatesTheSoftmax) {
  nn::PerformerAttention attention(performer_options(nn::RandomFeatures::softmax, 4096), 2, 8);
  const at::Tensor q = at::randn({1, 2, 16, 8}) * 0.5, k = at::randn({1, 2, 24, 8}) * 0.5, v = at::randn({1, 2, 24, 4});
  const at::Tensor exact = nn::softmax_attention(q, k, v, {}), estimate = attention.forward(q, k, v, {});
  // An average of 4096 features whose spread is about their mean: 1/√4096, and the ε that is added to each.
  EXPECT_LT((exact - estimate).abs().max().item<double>(), 0.1);
  EXPECT_EQ(nn::PerformerAttention({}, 2, 64).projection.sizes(), at::IntArrayRef({266, 64})) << "⌊64·ln 64⌋";
}

// All L² products of features, and what each query may see.
at::Tensor dense_performer(const nn::PerformerAttention& attention, const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v, const nn::AttentionArgs& args) {
  const int64_t lq = q.size(2), lk = k.size(2);
  const at::Tensor queries = attention.query_features(q), keys = attention.key_features(k, args.context.padding);
  at::Tensor products = at::matmul(queries, keys.transpose(2, 3));
  if (args.causal) products = products.tril(lk - lq);
  if (args.context.padding.defined()) products = products.masked_fill(args.context.padding.view({-1, 1, 1, lk}), 0);
  const at::Tensor total = products.sum(-1, true) + (args.causal ? 1e-6 : 0.0) * queries.sum(-1, true);
  return at::where(total > 0, at::matmul(products, v) / total, at::zeros({}, v.options()));
}

TEST(PerformerAttention, EqualsTheDenseFormForEveryLayout) {
  for (const auto form : kForms)
    for (const auto& [lq, lk] : {std::pair{5, 5}, {3, 7}, {1, 6}, {6, 2}, {70, 70}, {65, 130}})
      for (const bool causal : {false, true})
        for (const bool padded : {false, true}) {
          nn::PerformerAttention attention(performer_options(form, 10), 2, 4);
          attention.to(at::kDouble);
          const at::Tensor q = at::randn({2, 2, lq, 4}, at::kDouble), k = at::randn({2, 2, lk, 4}, at::kDouble),
                           v = at::randn({2, 2, lk, 3}, at::kDouble);
          nn::AttentionArgs args;
          args.causal = causal;
          if (padded) {
            args.context.padding = at::zeros({2, lk}, at::kBool);
            args.context.padding[0][lk - 1].fill_(true);
            args.context.padding[1].fill_(true);  // a sample without any key
          }
          EXPECT_TRUE(
              at::allclose(attention.forward(q, k, v, args), dense_performer(attention, q, k, v, args), 1e-9, 1e-10))
              << lq << 'x' << lk << " causal " << causal << " padded " << padded;
        }
}

TEST(PerformerAttention, GradientsEqualFiniteDifferences) {
  for (const bool causal : {false, true}) {
    // Largest products are held fixed, as published: their part in ε is not a derivative, so there must be none.
    auto options = performer_options(nn::RandomFeatures::softmax, 6);
    options.eps = 0.0;
    options.causal_eps = 0.0;
    nn::PerformerAttention softmax(options, 2, 4), relu(performer_options(nn::RandomFeatures::relu, 6), 2, 4);
    nn::AttentionArgs args;
    args.causal = causal;
    if (!causal) args.context.padding = at::tensor({0, 0, 0, 0, 0, 0, 1, 0, 0, 1}).view({2, 5}).to(at::kBool);
    for (nn::PerformerAttention* attention : {&softmax, &relu}) {
      attention->to(at::kDouble);
      test::expect_gradients([&](const auto& in) { return attention->forward(in[0], in[1], in[2], args).pow(2).sum(); },
                             {at::randn({2, 2, 5, 4}), at::randn({2, 2, 5, 4}), at::randn({2, 2, 5, 3})});
    }
  }
}

TEST(PerformerAttention, PaddedNoiseNeverMatters) {
  const at::Tensor padding = at::tensor({0, 0, 1, 0, 1, 1}).view({2, 3}).to(at::kBool);
  for (const auto form : kForms) {
    nn::PerformerAttention attention(performer_options(form, 10), 2, 4);
    nn::AttentionArgs args;
    args.context.padding = padding;
    const at::Tensor q = at::randn({2, 2, 3, 4}), k = at::randn({2, 2, 3, 4}), mask = padding.view({2, 1, 3, 1});
    const auto attend = [&](double noise) {
      const at::Tensor keys = k.masked_fill(mask, noise);
      return attention.forward(q, keys, keys, args);
    };
    EXPECT_TRUE(at::equal(attend(0), attend(std::numeric_limits<double>::quiet_NaN())));
    EXPECT_TRUE(at::equal(attend(0), attend(1e4))) << "not in the largest product either";
  }
}

TEST(PerformerAttention, RedrawsAfterSoManyTrainingForwardsAndResumes) {
  auto options = performer_options(nn::RandomFeatures::relu, 10);
  options.redraw_every = 2;
  nn::PerformerAttention attention(options, 2, 4);
  const at::Tensor x = at::randn({1, 2, 3, 4});
  const at::Tensor start = attention.projection.clone();
  attention.eval();
  for (int i = 0; i < 5; ++i) attention.forward(x, x, x, {});
  EXPECT_TRUE(at::equal(attention.projection, start)) << "evaluation writes nothing";
  EXPECT_EQ(attention.named_buffers()["forwards"].item<int64_t>(), 0);
  attention.train();
  for (int i = 0; i < 2; ++i) attention.forward(x, x, x, {});
  EXPECT_TRUE(at::equal(attention.projection, start));

  nn::PerformerAttention resumed(options, 2, 4);
  for (const auto& buffer : attention.named_buffers()) resumed.named_buffers()[buffer.key()].copy_(buffer.value());
  at::Tensor outputs[2];
  nn::PerformerAttention* both[]{&attention, &resumed};
  for (int i = 0; i < 2; ++i) {
    at::manual_seed(8);
    outputs[i] = both[i]->forward(x, x, x, {});
    EXPECT_FALSE(at::equal(both[i]->projection, start)) << "the third forward draws";
  }
  EXPECT_TRUE(at::equal(outputs[0], outputs[1]));
  attention.forward(x, x, x, {});
  EXPECT_TRUE(at::equal(attention.projection, resumed.projection)) << "and the fourth keeps it";
}

TEST(PerformerAttention, DecodingEqualsTheCausalWhole) {
  // With ε = 0 the largest product cancels, which a stream cannot know in advance.
  for (const auto form : kForms) {
    auto options = performer_options(form, 10);
    if (form == nn::RandomFeatures::softmax) options.eps = 0.0;
    options.causal_eps = 0.0;
    nn::AttentionOptions attention_options;
    attention_options.function = options;
    nn::MultiHeadAttention attention({8, 2, attention_options});
    test::expect_decoding_equals_whole(attention, 2);
  }
}

TEST(PerformerAttention, NamesWhatItRefuses) {
  nn::AttentionArgs args;
  args.bias = at::zeros({1, 1, 3, 3});
  const at::Tensor x = at::randn({1, 2, 3, 4});
  test::expect_refused([&] { nn::PerformerAttention({}, 2, 4).forward(x, x, x, args); },
                       "performer_attention: cannot use an attention bias");
  test::expect_refused([&] { nn::PerformerAttention(performer_options(kForms[0], -1), 2, 4); },
                       "count of features must be at least 0");
}

}  // namespace
}  // namespace cachet
