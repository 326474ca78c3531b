#include "cachet/analysis/plug_ins/memory_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/window_attention.h"

namespace cachet::analysis {
namespace {

constexpr double kFloatSums = 1e-6;  // sums of a few float32 weights

// One head of one channel: two queries of one sample meet two own keys and one entry of the memory.
TEST(MemoryAttention, FractionsByHand) {
  MemoryAttention attention;
  const nn::Listener listener = attention.listener();
  const auto hear = [&] {
    listener("a", nn::Signal::memory_tokens, at::zeros({1, 1, 1}));
    listener("a.function", nn::Signal::attention_operands, at::tensor({1.0, 0.0}).view({1, 1, 2, 1}));
    listener("a.function", nn::Signal::attention_keys, at::tensor({0.0, 1.0, 2.0}).view({1, 1, 3, 1}));
    listener("a.function", nn::Signal::attention_bias, at::zeros({1, 1, 1, 3}));
  };
  hear();
  hear();                                                                          // the same again changes no mean
  listener("b.function", nn::Signal::attention_operands, at::ones({1, 1, 2, 1}));  // a layer without a memory
  listener("b.function", nn::Signal::attention_keys, at::ones({1, 1, 2, 1}));
  listener("b.function", nn::Signal::attention_bias, at::zeros({1, 1, 1, 2}));
  const ByLayer<std::vector<double>> layers = attention.layers();
  ASSERT_EQ(layers.size(), 1U);
  EXPECT_EQ(layers.begin()->first, "a");
  const double first = std::exp(2.0) / (1 + std::exp(1.0) + std::exp(2.0)), second = 1.0 / 3;
  ASSERT_EQ(layers.begin()->second.size(), 1U);
  EXPECT_NEAR(layers.begin()->second[0], (first + second) / 2, kFloatSums);
}

// Keys that are all alike get equal weights, but for those that a mask hides: windows of 2 x 2 on a map of 4 x 4.
TEST(MemoryAttention, IsHeardInALayer) {
  const nn::TokenLayout map{nn::Grid{4, 4}, 0, {}};
  for (const bool windows : {false, true}) {
    const auto layer =
        windows
            ? nn::make_window_attention({8, 2, {}, nn::ConcatenatedCacheOptions{}, {nn::Grid{2, 2}, nn::Grid{1, 1}}})
            : nn::make_self_attention({8, 2, 16, map, nn::ConcatenatedCacheOptions{}});
    EXPECT_TRUE(has_concatenated_cache(*layer));
    const at::NoGradGuard no_grad;
    for (const auto& item : layer->named_parameters()) item.value().zero_();
    const at::Tensor x = at::randn({3, 16, 8});
    layer->forward(x, x, nn::AttentionArgs::self(map));
    layer->eval();
    MemoryAttention attention;
    {
      const nn::Observation observation(*layer, attention.listener());
      layer->forward(x, x, nn::AttentionArgs::self(map));
    }
    const auto layers = attention.layers();
    ASSERT_EQ(layers.size(), 1U);
    // Of the four windows one sees 4 of its own, two see 2, and one sees 1; each sees 4 of the memory.
    const double expected = windows ? (4.0 / 8 + 2 * 4.0 / 6 + 4.0 / 5) / 4 : 0.5;
    ASSERT_EQ(layers.begin()->second.size(), 2U);
    for (const double fraction : layers.begin()->second) EXPECT_NEAR(fraction, expected, kFloatSums) << windows;
  }
  EXPECT_FALSE(has_concatenated_cache(*nn::make_self_attention({8, 2, 16, map, nn::FifoCacheOptions{}})));
}

TEST(MemoryAttention, AnEmptyMemoryIsLeftOut) {
  const nn::TokenLayout map{nn::Grid{4, 4}, 0, {}};
  const auto layer = nn::make_self_attention({8, 2, 16, map, nn::ConcatenatedCacheOptions{}});
  layer->eval();
  MemoryAttention attention;
  const nn::Observation observation(*layer, attention.listener());
  const at::Tensor x = at::randn({3, 16, 8});
  layer->forward(x, x, nn::AttentionArgs::self(map));
  EXPECT_TRUE(attention.layers().empty());
}

}  // namespace
}  // namespace cachet::analysis
