#include "cachet/nn/layers/windows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/relative_position_bias.h"
#include "cachet/nn/attention/window_attention.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using nn::Grid;
using nn::WindowOrder;
using test::expect_refused;

constexpr WindowOrder kOrders[] = {WindowOrder::shift_then_pad, WindowOrder::pad_then_shift};

TEST(Windows, MergingUndoesPartitioningForEverySizeAndShift) {
  for (const WindowOrder order : kOrders)
    for (int64_t height = 1; height <= 9; ++height)
      for (int64_t width = 1; width <= 9; width += 2)
        for (int64_t shift = 0; shift < 3; ++shift) {
          const nn::Windows windows({height, width}, {3, 3}, {shift, shift}, order, at::kCPU);
          const at::Tensor x = at::randn({2, height * width, 4});
          const at::Tensor inside = windows.partition(x);
          const int64_t count = (height + 2) / 3 * ((width + 2) / 3);
          ASSERT_EQ(inside.sizes(), at::IntArrayRef({2 * count, 9, 4}));
          ASSERT_TRUE(at::equal(windows.merge(inside), x));
          ASSERT_NEAR(inside.abs().sum().item<double>(), x.abs().sum().item<double>(), 1e-3) << "the rest are zeros";
        }
}

TEST(Windows, AgreeWithRollPadAndCut) {
  // The definition, by ATen: roll, pad, view as windows; the other order pads first.
  const int64_t height = 5, width = 7, side = 3, shift = 1;
  const at::Tensor x = at::randn({2, height * width, 4}), map = x.view({2, height, width, 4});
  const auto cut = [&](const at::Tensor& padded) {
    return padded.reshape({2, 2, side, 3, side, 4}).permute({0, 1, 3, 2, 4, 5}).reshape({12, side * side, 4});
  };
  const at::Tensor rolled = at::constant_pad_nd(at::roll(map, {-shift, -shift}, {1, 2}), {0, 0, 0, 2, 0, 1});
  const at::Tensor padded = at::roll(at::constant_pad_nd(map, {0, 0, 0, 2, 0, 1}), {-shift, -shift}, {1, 2});
  const auto partition = [&](WindowOrder order) {
    return nn::Windows({height, width}, {side, side}, {shift, shift}, order, at::kCPU).partition(x);
  };
  EXPECT_TRUE(at::equal(partition(WindowOrder::shift_then_pad), cut(rolled)));
  EXPECT_TRUE(at::equal(partition(WindowOrder::pad_then_shift), cut(padded)));
}

TEST(Windows, AMaskStandsOnlyBetweenWhatAShiftBroughtTogether) {
  const nn::Windows still({6, 6}, {3, 3}, {0, 0}, WindowOrder::shift_then_pad, at::kCPU);
  EXPECT_FALSE(still.mask().defined());
  const nn::Windows windows({6, 6}, {3, 3}, {1, 1}, WindowOrder::shift_then_pad, at::kCPU);
  const at::Tensor mask = windows.mask();
  ASSERT_EQ(mask.sizes(), at::IntArrayRef({4, 1, 9, 9}));
  EXPECT_TRUE(at::equal(mask[0], at::zeros({1, 9, 9}))) << "the first window was no border";
  // Two positions of a window may see each other exactly if they were neighbours before the shift: less than a window
  // apart in both directions.
  const at::Tensor place = at::arange(36, at::kDouble).view({1, 36, 1});
  const at::Tensor token = windows.partition(place).to(at::kLong).view({4, 9});
  for (int64_t w = 0; w < 4; ++w)
    for (int64_t i = 0; i < 9; ++i)
      for (int64_t j = 0; j < 9; ++j) {
        const auto a = token[w][i].item<int64_t>(), b = token[w][j].item<int64_t>();
        const bool near = std::abs(a / 6 - b / 6) < 3 && std::abs(a % 6 - b % 6) < 3;
        ASSERT_EQ(mask[w][0][i][j].item<float>() == 0, near) << w << ": " << i << ", " << j;
      }
}

TEST(RelativePositionBias, DependsOnTheOffsetAlone) {
  const Grid window{2, 3};
  ASSERT_EQ(nn::relative_offsets(window), 15);
  const at::Tensor table = at::randn({15, 2});
  const at::Tensor bias = nn::relative_position_bias(table, nn::relative_index(window, at::kCPU), window);
  ASSERT_EQ(bias.sizes(), at::IntArrayRef({1, 2, 6, 6}));
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      const int64_t row = (i / 3 - j / 3 + 1) * 5 + (i % 3 - j % 3 + 2);
      ASSERT_TRUE(at::equal(bias[0].select(1, i).select(1, j), table[row])) << i << ", " << j;
    }
}

TEST(RelativePositionBias, ResizesATableForAnotherWindow) {
  const at::Tensor table = at::full({25, 3}, 2.5);
  const at::Tensor larger = nn::resize_relative_table(table, {3, 3}, {5, 4});
  EXPECT_EQ(larger.sizes(), at::IntArrayRef({63, 3}));
  EXPECT_TRUE(at::allclose(larger, at::full({63, 3}, 2.5))) << "a constant stays one";
  EXPECT_TRUE(nn::resize_relative_table(table, {3, 3}, {3, 3}).is_same(table));
  expect_refused(
      [&] {
        nn::resize_relative_table(table, {4, 4}, {5, 5});
      },
      "table must be (49, H) for a window of 4 x 4");
}

nn::WindowAttentionOptions window_options(const nn::CacheOptions& cache) {
  nn::WindowAttentionOptions o;
  o.dim = 4;
  o.num_heads = 2;
  o.cache = cache;
  o.windows = {{2, 2}, {1, 1}, WindowOrder::shift_then_pad};
  return o;
}

TEST(WindowAttention, GradientEqualsFiniteDifferencesWithAndWithoutACache) {
  for (const nn::CacheOptions& cache :
       {nn::CacheOptions{nn::NoCacheOptions{}}, nn::CacheOptions{nn::GatedRecurrentCacheOptions{}}}) {
    const auto attention = nn::make_window_attention(window_options(cache));
    attention->to(at::kDouble);
    const auto layout = nn::AttentionArgs::self({Grid{3, 5}, 0, {}});
    attention->eval();  // each call with the same cache
    test::expect_gradients([&](const auto& in) { return attention->forward(in[0], in[0], layout).pow(2).sum(); },
                           {at::randn({1, 15, 4})});
  }
}

TEST(WindowAttention, HasTheParametersOfWhatIsInside) {
  const auto plain = nn::make_window_attention(window_options(nn::NoCacheOptions{}))->named_parameters();
  EXPECT_TRUE(plain.contains("relative_position_bias_table"));
  EXPECT_TRUE(plain.contains("qkv.weight"));
  const auto cached = nn::make_window_attention(window_options(nn::GatedRecurrentCacheOptions{}));
  EXPECT_TRUE(cached->named_parameters().contains("self_attention.relative_position_bias_table"));
  EXPECT_FALSE(cached->named_parameters().contains("memory_attention.relative_position_bias_table"));
  EXPECT_EQ(cached->named_buffers()["cache.tokens"].sizes(), at::IntArrayRef({1, 4, 2})) << "a window's tokens";
}

TEST(WindowAttention, FollowsMapsOfChangingSizes) {
  const auto attention = nn::make_window_attention(window_options(nn::NoCacheOptions{}));
  const at::NoGradGuard no_grad;
  for (const Grid grid : {Grid{4, 4}, Grid{3, 5}, Grid{4, 4}, Grid{1, 1}}) {
    const at::Tensor x = at::randn({2, grid.tokens(), 4});
    const auto layout = nn::AttentionArgs::self({grid, 0, {}});
    const at::Tensor y = attention->forward(x, x, layout);
    const auto fresh = nn::make_window_attention(window_options(nn::NoCacheOptions{}));
    for (const auto& item : attention->named_parameters()) fresh->named_parameters()[item.key()].copy_(item.value());
    EXPECT_TRUE(at::equal(y, fresh->forward(x, x, layout)));
  }
}

TEST(WindowAttention, NamesWhatItRefuses) {
  const auto attention = nn::make_window_attention(window_options(nn::NoCacheOptions{}));
  const at::Tensor x = at::randn({1, 16, 4});
  const auto layout = nn::AttentionArgs::self({Grid{4, 4}, 0, {}});
  expect_refused([&] { attention->forward(x, x, {}); }, "tokens must lie on a grid");
  expect_refused([&] { attention->forward(x, at::randn({1, 16, 4}), layout); }, "pass the query as context");
  auto causal = layout;
  causal.causal = true;
  expect_refused([&] { attention->forward(x, x, causal); },
                 "cannot use a causal mask, a session state or an attention bias");
}

}  // namespace
}  // namespace cachet
