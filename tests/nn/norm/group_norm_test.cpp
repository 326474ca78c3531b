// Group norm and instance norm, compared with their definition in float64, which is written out here, and with
// LibTorch's torch.nn.GroupNorm.
#include "cachet/nn/norm/group_norm.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "cachet/nn/norm/norm_options.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet::nn {
namespace {

constexpr double kEps = 1e-5;

// (x − mean)/√(variance + ε)·w + b, number by number: the statistics of a sample and a group are over the tokens that
// are not padding and the group's channels. Padded tokens are 0. x (B, T, C), float64.
at::Tensor by_definition(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, int64_t groups,
                         const at::Tensor& padding = {}) {
  const int64_t samples = x.size(0), tokens = x.size(1), channels = x.size(2), in_group = channels / groups;
  at::Tensor y = at::zeros_like(x);
  const auto in = x.accessor<double, 3>();
  auto out = y.accessor<double, 3>();
  const auto w = weight.accessor<double, 1>(), b = bias.accessor<double, 1>();
  const auto is_token = [&](int64_t sample, int64_t token) {
    return !padding.defined() || !padding[sample][token].item<bool>();
  };
  for (int64_t sample = 0; sample < samples; ++sample)
    for (int64_t group = 0; group < groups; ++group) {
      double sum = 0, squares = 0, count = 0;
      const auto for_each = [&](const auto& visit) {
        for (int64_t t = 0; t < tokens; ++t)
          for (int64_t c = group * in_group; c < (group + 1) * in_group; ++c)
            if (is_token(sample, t)) visit(t, c);
      };
      for_each([&](int64_t t, int64_t c) { sum += in[sample][t][c], count += 1; });
      const double mean = sum / count;
      for_each([&](int64_t t, int64_t c) { squares += (in[sample][t][c] - mean) * (in[sample][t][c] - mean); });
      const double deviation = std::sqrt(squares / count + kEps);
      for_each([&](int64_t t, int64_t c) { out[sample][t][c] = (in[sample][t][c] - mean) / deviation * w[c] + b[c]; });
    }
  return y;
}

std::shared_ptr<GroupNorm> made(int64_t channels, int64_t groups, at::ScalarType type = at::kDouble) {
  auto norm = std::make_shared<GroupNorm>(channels, groups, kEps);
  norm->to(type);
  const at::NoGradGuard no_grad;
  norm->weight.add_(at::randn_like(norm->weight) / 4);
  norm->bias.add_(at::randn_like(norm->bias) / 4);
  return norm;
}

at::Tensor some_padding() { return at::tensor({0, 0, 0, 1, 1, 0, 1, 0, 0, 0}).view({2, 5}).to(at::kBool); }

TEST(GroupNorm, IsItsDefinition) {
  for (const int64_t groups : {1, 2, 3, 6})
    for (const bool padded : {false, true}) {
      const auto norm = made(6, groups);
      const at::Tensor x = at::randn({2, 5, 6}, at::kDouble) * 3 + 1, padding = padded ? some_padding() : at::Tensor();
      at::Tensor y = norm->forward(x, padding).detach();
      if (padded) y = y.masked_fill(padding.unsqueeze(2), 0);
      const at::Tensor expected = by_definition(x, norm->weight.detach(), norm->bias.detach(), groups, padding);
      // Both are float64; sums are added up in another order.
      EXPECT_TRUE(at::allclose(y, expected, 1e-12, 1e-12)) << groups << " groups, padded: " << padded;
    }
}

TEST(GroupNorm, AndItsGradientsAreThoseOfTorch) {
  const auto norm = made(6, 3);
  const at::Tensor ours = at::randn({2, 5, 6}, at::kDouble).requires_grad_(),
                   theirs = ours.detach().clone().requires_grad_(), weight = norm->weight.detach().requires_grad_(),
                   bias = norm->bias.detach().requires_grad_(), upstream = at::randn({2, 5, 6}, at::kDouble);
  const at::Tensor y = norm->forward(ours);
  const at::Tensor expected = at::group_norm(theirs.transpose(1, 2), 3, weight, bias, kEps).transpose(1, 2);
  EXPECT_TRUE(at::allclose(y, expected, 1e-12, 1e-12));
  (y * upstream).sum().backward();
  (expected * upstream).sum().backward();
  EXPECT_TRUE(at::allclose(ours.grad(), theirs.grad(), 1e-10, 1e-12));
  EXPECT_TRUE(at::allclose(norm->weight.grad(), weight.grad(), 1e-10, 1e-12));
  EXPECT_TRUE(at::allclose(norm->bias.grad(), bias.grad(), 1e-10, 1e-12));
}

TEST(GroupNorm, GradientsWithPaddingEqualFiniteDifferences) {
  const at::Tensor padding = some_padding();
  const at::Tensor upstream = at::randn({2, 5, 4}, at::kDouble).masked_fill(padding.unsqueeze(2), 0);
  for (const int64_t groups : {1, 2, 4}) {
    const auto norm = made(4, groups);
    test::expect_gradients([&](const auto& in) { return (norm->forward(in[0], padding) * upstream).sum(); },
                           {at::randn({2, 5, 4})});
  }
}

TEST(GroupNorm, ASampleDoesNotDependOnTheOthersOrOnPadding) {
  const auto norm = made(6, 2);
  const at::Tensor x = at::randn({2, 5, 6}, at::kDouble), padding = some_padding();
  const at::Tensor whole = norm->forward(x, padding);
  for (int64_t sample = 0; sample < 2; ++sample) {
    const at::Tensor tokens = padding[sample].logical_not().nonzero().flatten();
    const at::Tensor alone = norm->forward(x[sample].index_select(0, tokens).unsqueeze(0))[0];
    EXPECT_TRUE(at::allclose(whole[sample].index_select(0, tokens), alone, 1e-12, 1e-12));
  }
}

TEST(GroupNorm, TakesMapsOfTokens) {
  const auto norm = made(6, 3);
  const at::Tensor x = at::randn({2, 3, 4, 6}, at::kDouble);
  EXPECT_TRUE(at::equal(norm->forward(x), norm->forward(x.flatten(1, 2)).view({2, 3, 4, 6})));
  const at::Tensor strided = at::randn({2, 6, 5}, at::kDouble).transpose(1, 2);
  EXPECT_TRUE(
      at::allclose(norm->forward(strided), norm->forward(strided.contiguous()), 1e-12, 1e-12));  // another order
}

TEST(GroupNorm, BFloat16AndAutocastComputeInFloat32) {
  const auto wide = made(64, 32);
  const at::Tensor x = (at::randn({4, 9, 64}) * 20 + 100).to(at::kBFloat16);  // far from 0: narrow statistics are wrong
  const at::Tensor expected = wide->forward(x.to(at::kDouble)).detach();
  const auto close = [&](const at::Tensor& y) {
    // One rounding of the result to 8 bits of mantissa.
    EXPECT_TRUE(at::allclose(y.to(at::kDouble), expected, std::pow(2.0, -8), 1e-3));
  };
  const auto norm = std::dynamic_pointer_cast<GroupNorm>(wide->clone());
  norm->to(at::kFloat);
  const at::Tensor plain = norm->forward(x);
  EXPECT_EQ(plain.scalar_type(), at::kBFloat16);
  close(plain);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  const at::Tensor cast = norm->forward(x), of_float = norm->forward(x.to(at::kFloat));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_EQ(cast.scalar_type(), at::kBFloat16);
  EXPECT_EQ(of_float.scalar_type(), at::kFloat);
  close(cast);
  EXPECT_TRUE(at::allclose(of_float.to(at::kDouble), expected, 1e-4, 1e-4));
}

TEST(GroupNorm, InstanceNormHasAGroupForEachChannel) {
  const auto instance = make_norm(InstanceNormOptions{.eps = kEps}, 6);
  const GroupNorm groups(6, 6, kEps);
  const at::Tensor x = at::randn({2, 5, 6});
  EXPECT_TRUE(at::equal(instance->forward(x), std::make_shared<GroupNorm>(groups)->forward(x)));
  const at::Tensor theirs = at::instance_norm(x.transpose(1, 2), {}, {}, {}, {}, /*use_input_stats=*/true, 0.1, kEps,
                                              /*cudnn_enabled=*/false);
  EXPECT_TRUE(at::allclose(instance->forward(x), theirs.transpose(1, 2), 1e-5, 1e-6));  // float32, another order
}

TEST(GroupNorm, RefusesToTrainOnOneNumber) {
  const auto norm = made(6, 6);
  test::expect_refused([&] { norm->forward(at::randn({3, 6}, at::kDouble)); }, "needs at least two tokens to train");
  norm->eval();
  EXPECT_TRUE(at::equal(norm->forward(at::randn({3, 6}, at::kDouble)), norm->bias.expand({3, 6})));
  EXPECT_TRUE(made(6, 3)->forward(at::randn({3, 6}, at::kDouble)).isfinite().all().item<bool>());
}

TEST(GroupNorm, GroupsDivideTheChannels) {
  test::expect_refused(
      [] { GroupNorm(48, 32, kEps); },
      "groups must be a divisor of the number of channels, such as 24, but 32 does not divide the 48 channels");
  test::expect_refused([] { GroupNorm(6, 0, kEps); }, "such as 1, but 0 does not divide the 6 channels");
  EXPECT_FALSE(chosen_norm(GroupNormOptions{}).misfit(64));
  const auto misfit = chosen_norm(GroupNormOptions{.groups = 5}).misfit(64);
  ASSERT_TRUE(misfit);
  EXPECT_EQ(misfit->key, "groups");
  EXPECT_EQ(misfit->text,
            "must be a divisor of the number of channels, such as 4, but 5 does not divide the 64 channels");
}

TEST(GroupNorm, IsRead) {
  const auto read = [](const std::string& toml) {
    auto document = config::Document::from_text(toml, "recipe.toml");
    const NormOptions options = read_norm_options(document.root());
    document.finish();
    return options;
  };
  EXPECT_EQ(std::get<GroupNormOptions>(read("kind = 'group'")).groups, 32);
  const auto group = std::get<GroupNormOptions>(read("kind = 'group'\ngroups = 8\neps = 1e-3"));
  EXPECT_EQ(group.groups, 8);
  EXPECT_EQ(group.eps, 1e-3);
  EXPECT_EQ(std::get<InstanceNormOptions>(read("kind = 'instance'\neps = 1e-3")).eps, 1e-3);
  EXPECT_THROW(read("kind = 'instance'\ngroups = 8"), config::Error);
  EXPECT_THROW(read("kind = 'group'\ngroups = 0"), config::Error);
}

}  // namespace
}  // namespace cachet::nn
