#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "tests/support/attention_functions.h"

namespace cachet {
namespace {

// What every attention function has to serve, whatever it computes: a context of its own, padding, narrow types,
// caches.

std::shared_ptr<nn::AttentionFunction> make_function(const test::NamedFunction& function) {
  return nn::make_attention_function(function.options, 2, 4);
}

nn::AttentionArgs padded_from(const std::vector<int64_t>& lengths, int64_t most) {
  nn::AttentionArgs args;
  args.context.padding = at::arange(most).unsqueeze(0).ge(at::tensor(lengths).unsqueeze(1));
  return args;
}

TEST(EveryAttentionFunction, OneContextServesAllSamples) {
  for (const auto& function : test::attention_functions())
    for (const bool padded : {false, true}) {
      const auto attention = make_function(function);
      attention->to(at::kDouble);
      attention->eval();
      const auto layout = padded ? padded_from({20}, 23) : nn::AttentionArgs{};
      auto wide = layout;
      if (padded) wide.context.padding = layout.context.padding.expand({3, -1});
      const at::Tensor q = at::randn({3, 2, 18, 4}, at::kDouble);
      const at::Tensor k = at::randn({1, 2, 23, 4}, at::kDouble), v = at::randn({1, 2, 23, 5}, at::kDouble);
      const auto own = [](const at::Tensor& x) { return x.expand({3, -1, -1, -1}); };
      EXPECT_TRUE(
          at::allclose(attention->forward(q, k, v, layout), attention->forward(q, own(k), own(v), wide), 1e-9, 1e-10))
          << function.name;
    }
}

TEST(EveryAttentionFunction, PaddedKeysNeverMatter) {
  for (const auto& function : test::attention_functions()) {
    const auto attention = make_function(function);
    attention->eval();
    const auto layout = padded_from({20, 1}, 23);
    const at::Tensor q = at::randn({2, 2, 18, 4}), k = at::randn({2, 2, 23, 4});
    const at::Tensor mask = layout.context.padding.unsqueeze(1).unsqueeze(3);
    const auto attend = [&](double noise) {
      return attention->forward(q, k.masked_fill(mask, noise), k.masked_fill(mask, noise), layout);
    };
    EXPECT_TRUE(at::equal(attend(0), attend(77))) << function.name;
  }
}

TEST(EveryAttentionFunction, NarrowTypesEqualDoubleUpToTheirRounding) {
  for (const auto& function : test::attention_functions()) {
    const auto attention = make_function(function);
    attention->eval();
    // Buckets of a hash hang on roundings: of numbers that every type holds, all find the same.
    const auto coarse = [](at::IntArrayRef sizes) { return at::randint(-16, 17, sizes).to(at::kDouble) / 16; };
    const at::Tensor x = coarse({2, 2, 90, 4}), v = coarse({2, 2, 90, 4});
    const auto run = [&](at::ScalarType dtype) {
      const auto typed = make_function(function);
      typed->eval();
      for (const auto& item : attention->named_parameters())
        typed->named_parameters()[item.key()].data().copy_(item.value());
      for (const auto& item : attention->named_buffers()) typed->named_buffers()[item.key()].copy_(item.value());
      typed->to(dtype);
      const auto operand = [&](const at::Tensor& of) { return of.to(dtype, false, /*copy=*/true).requires_grad_(); };
      const at::Tensor qk = operand(x), values = operand(v);
      const at::Tensor y = typed->forward(qk, qk, values, {});
      EXPECT_EQ(y.scalar_type(), dtype) << function.name;
      (y * x.to(dtype)).sum().backward();
      return std::vector<at::Tensor>{y.detach(), qk.grad(), values.grad()};
    };
    const auto exact = run(at::kDouble);
    for (const auto dtype : {at::kFloat, at::kBFloat16}) {
      const auto narrow = run(dtype);
      for (size_t i = 0; i < exact.size(); ++i) {
        // A few chained products: 2^-24 grows to 1e-5, 2^-9 to 5e-2 of the largest number.
        const double scale = std::max(1.0, exact[i].abs().max().item<double>());
        const double error = (narrow[i].to(at::kDouble) - exact[i]).abs().max().item<double>() / scale;
        EXPECT_LT(error, dtype == at::kFloat ? 1e-5 : 5e-2) << function.name << " tensor " << i << ' ' << dtype;
      }
    }
  }
}

TEST(EveryAttentionFunction, AttendsToACache) {
  for (const auto& function : test::attention_functions())
    for (const int64_t length : {5, 18, 40}) {
      nn::GatedRecurrentCacheOptions grc;
      grc.length = length;
      nn::AttentionOptions attention;
      attention.function = function.options;
      const auto layer = nn::make_self_attention({16, 2, 18, {}, grc}, attention);
      const at::Tensor x = at::randn({3, 18, 16}).requires_grad_();
      auto layout = nn::AttentionArgs::self({{}, 0, padded_from({18, 11, 1}, 18).context.padding});
      at::Tensor y;
      for (int step = 0; step < 2; ++step) y = layer->forward(x, x, layout);
      y.pow(2).sum().backward();
      EXPECT_TRUE(y.isfinite().all().item<bool>()) << function.name << ' ' << length;
      for (const auto& parameter : layer->named_parameters()) {
        ASSERT_TRUE(parameter.value().grad().defined()) << function.name << ' ' << parameter.key();
        EXPECT_TRUE(parameter.value().grad().isfinite().all().item<bool>()) << function.name << ' ' << parameter.key();
      }
      EXPECT_GT(layer->named_buffers()["cache.tokens"].abs().sum().item<double>(), 0);
    }
}

TEST(EveryAttentionFunction, EvaluationWritesNoModelStateAndRepeats) {
  for (const auto& function : test::attention_functions()) {
    nn::AttentionOptions attention;
    attention.function = function.options;
    const auto layer = nn::make_self_attention({16, 2, 18, {}, nn::GatedRecurrentCacheOptions{}}, attention);
    const at::Tensor x = at::randn({3, 18, 16});
    layer->forward(x, x, {});
    layer->eval();
    std::vector<at::Tensor> before;
    for (const auto& buffer : layer->buffers()) before.push_back(buffer.clone());
    const at::Tensor first = layer->forward(x, x, {});
    EXPECT_TRUE(at::equal(layer->forward(x, x, {}), first)) << function.name;
    size_t i = 0;
    for (const auto& buffer : layer->named_buffers())
      EXPECT_TRUE(at::equal(buffer.value(), before[i++])) << buffer.key();
  }
}

TEST(EveryAttentionFunction, TakesEmptyBatchesAndSingleTokens) {
  for (const auto& function : test::attention_functions()) {
    nn::AttentionOptions options;
    options.function = function.options;
    for (const auto projection : {nn::Projection::fused, nn::Projection::separate}) {
      nn::MultiHeadAttention attention({16, 2, options, projection});
      for (const auto& [batch, length] : {std::pair{0, 18}, {2, 1}, {1, 3}}) {
        const at::Tensor x = at::randn({batch, length, 16});
        EXPECT_EQ(attention.forward(x, x, {}).sizes(), x.sizes()) << function.name;
      }
    }
  }
}

}  // namespace
}  // namespace cachet
