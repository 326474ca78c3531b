#include "cachet/nn/layers/outliers.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "cachet/nn/transformer_block.h"

namespace cachet::nn {
namespace {

TEST(Outliers, AreWholeRowsScaledInTheirShare) {
  torch::manual_seed(3);
  const at::Tensor x = at::rand({20, 50, 4}, at::kFloat) + 1;
  const at::Tensor ratio = with_outliers(x, 2, {1.0, 0.3, 50.0}) / x;
  const at::Tensor rows = ratio.mean(-1);
  EXPECT_TRUE(at::allclose(ratio, rows.unsqueeze(-1).expand_as(ratio), 1e-5));  // a row as a whole
  const at::Tensor hit = (rows - 50).abs() < 1e-3;
  EXPECT_TRUE((hit | ((rows - 1).abs() < 1e-5)).all().item<bool>());
  EXPECT_NEAR(hit.to(at::kDouble).mean().item<double>(), 0.3, 0.05);
}

TEST(Outliers, ComeInSomePassesOnly) {
  torch::manual_seed(4);
  const at::Tensor x = at::ones({2, 3, 4, 4}, at::kBFloat16);
  int64_t met = 0;
  for (int64_t pass = 0; pass < 400; ++pass) {
    const at::Tensor y = with_outliers(x, 1, {0.25, 1.0, -2.0});
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    met += y.is_same(x) ? 0 : 1;
  }
  EXPECT_NEAR(static_cast<double>(met) / 400, 0.25, 0.06);
}

TEST(Outliers, WithoutThemNothingIsDrawn) {
  torch::manual_seed(5);
  const at::Tensor first = at::rand({1});
  torch::manual_seed(5);
  const at::Tensor x = at::ones({2, 3});
  EXPECT_TRUE(with_outliers(x, 1, {}).is_same(x));
  EXPECT_TRUE(at::rand({1}).equal(first));
}

TEST(Outliers, ReachABlockInTrainingAlone) {
  TransformerBlockOptions options;
  options.dim = 8;
  options.num_heads = 2;
  options.tokens = 5;
  torch::manual_seed(6);
  TransformerBlock block(options, PlugIns{.outliers = {1.0, 1.0, 3.0}});
  torch::manual_seed(6);
  TransformerBlock plain(options, PlugIns{});
  const at::Tensor x = at::rand({2, 5, 8});
  EXPECT_TRUE(block.forward(x, {}).equal(plain.forward(x * 3, {})));
  block.eval();
  plain.eval();
  EXPECT_TRUE(block.forward(x, {}).equal(plain.forward(x, {})));
}

TEST(Outliers, AreReadAndRefused) {
  const auto read = [](const std::string& toml) {
    auto document = config::Document::from_text(toml, "recipe.toml");
    const OutlierOptions options = read_plug_ins(document.root()).outliers;
    document.finish();
    return options;
  };
  const OutlierOptions options = read("outliers = {probability = 0.02, share = 0.05, scale = 20.0}");
  EXPECT_EQ(options.probability, 0.02);
  EXPECT_EQ(options.share, 0.05);
  EXPECT_EQ(options.scale, 20.0);
  EXPECT_EQ(read("").probability, 0.0);
  EXPECT_THROW(read("outliers = {probability = 1.5}"), config::Error);
  EXPECT_THROW(read("outliers = {share = -0.1}"), config::Error);
  EXPECT_THROW(read("outliers = {rate = 0.1}"), config::Error);
}

}  // namespace
}  // namespace cachet::nn
