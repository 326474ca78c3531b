#include "cachet/ops/cache/mix_heads.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

TEST(MixHeads, IsTheEquationHeadByHead) {
  const at::Tensor self = at::randn({2, 3, 4, 6}, at::kDouble), memory = at::randn({2, 3, 4, 2}, at::kDouble);
  const at::Tensor logit = at::randn({4}, at::kDouble), out = ops::mix_heads(self, memory, logit);
  for (int64_t h = 0; h < 4; ++h) {
    const double share = 1 / (1 + std::exp(-logit[h].item<double>()));
    const at::Tensor narrow = share * memory.select(2, h) + (1 - share) * self.select(2, h).narrow(2, 0, 2);
    const at::Tensor rest = (1 - share) * self.select(2, h).narrow(2, 2, 4);
    EXPECT_TRUE(at::allclose(out.select(2, h), at::cat({narrow, rest}, 2), 0, 1e-14)) << "head " << h;
  }
}

TEST(MixHeads, GradientEqualsFiniteDifferences) {
  const at::Tensor weight = at::randn({1, 3, 2, 6}, at::kDouble);
  for (const int64_t m : {0, 4, 6})
    test::expect_gradients([&](const auto& in) { return (ops::mix_heads(in[0], in[1], in[2]) * weight).sum(); },
                           {at::randn({1, 3, 2, 6}), at::randn({1, 3, 2, m}), at::randn({2})});
}

TEST(MixHeads, TakesStridedAndEmptyTensors) {
  const at::Tensor self = at::randn({2, 4, 5, 8}).transpose(1, 2), memory = at::randn({2, 5, 4, 8}).slice(3, 0, 8, 2);
  const at::Tensor logit = at::randn({8}).slice(0, 0, 8, 2);
  EXPECT_TRUE(at::equal(ops::mix_heads(self, memory, logit),
                        ops::mix_heads(self.contiguous(), memory.contiguous(), logit.contiguous())));
  EXPECT_EQ(ops::mix_heads(at::randn({2, 0, 4, 8}), at::randn({2, 0, 4, 4}), at::randn({4})).numel(), 0);
}

TEST(MixHeads, FollowsAutocast) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  const at::Tensor out =
      ops::mix_heads(at::randn({1, 2, 2, 4}), at::randn({1, 2, 2, 2}).to(at::kBFloat16), at::randn({2}));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_EQ(out.scalar_type(), at::kBFloat16);
}

TEST(MixHeads, NamesWhatItRefuses) {
  const at::Tensor self = at::randn({1, 2, 2, 4}), memory = at::randn({1, 2, 2, 2}), logit = at::randn({2});
  expect_refused([&] { ops::mix_heads(self[0], memory, logit); }, "self must be (B, T, H, d), got [2, 2, 4]");
  expect_refused([&] { ops::mix_heads(self, at::randn({1, 3, 2, 2}), logit); }, "memory must be (B, T, H, m)");
  expect_refused(
      [&] {
        ops::mix_heads(self, at::randn({1, 2, 2, 8}), logit);
      },
      "memory heads must not be wider than self heads (4 channels), but have 8");
  expect_refused([&] { ops::mix_heads(self, memory, at::randn({3})); }, "logit must be (H) = (2), got [3]");
  expect_refused([&] { ops::mix_heads(self, memory.to(at::kDouble), logit); },
                 "memory must have the dtype of self, Float, got Double");
}

TEST(MixHeads, FusedEqualsComposite) {
  using test::Tensors;
  for (const int64_t tokens : {0, 1, 70})
    for (const auto& [d, m] : {std::pair<int64_t, int64_t>{1, 1}, {64, 32}, {33, 7}, {16, 0}})
      test::expect_fused_equals_composite(
          [](const Tensors& in) -> Tensors { return {ops::mix_heads(in[0], in[1], in[2])}; },
          {at::randn({2, tokens, d, 3}).transpose(2, 3), at::randn({2, tokens, 3, 2 * m}).narrow(3, 0, m),
           at::randn({3})},
          "tokens " + std::to_string(tokens) + ", d " + std::to_string(d));
}

}  // namespace
}  // namespace cachet
