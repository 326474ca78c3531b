#include "cachet/analysis/statistics/recent_normality.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "cachet/analysis/statistics/normality.h"
#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::analysis {
namespace {

class OneNorm : public torch::nn::Module {
 public:
  explicit OneNorm(std::shared_ptr<nn::Norm> made) : norm(register_module("norm", std::move(made))) {}
  std::shared_ptr<nn::Norm> norm;
};

TEST(RecentNormality, IsThatOfTheLastTrainingPasses) {
  at::manual_seed(3);
  const auto model = std::make_shared<OneNorm>(std::make_shared<nn::UnifiedNorm>(16, ops::UnifiedNormSettings{}));
  RecentNormality recent(*model, 10);
  std::vector<at::Tensor> statistics;
  for (int pass = 0; pass < 14; ++pass) {
    const at::Tensor values = at::randn({3, 16}) * (pass < 4 ? 50 : 1), x = values.clone().requires_grad_();
    model->norm->forward(x).pow(3).sum().backward();
    statistics.push_back(values.square().mean(0));
    if (pass < 9) {
      EXPECT_TRUE(recent.layers().empty()) << pass;
    }
    model->eval();
    model->norm->forward(values * 1e3);  // evaluation is not a pass
    model->train();
    recent.record(false);
    model->norm->forward((values * 1e3).requires_grad_()).sum().backward();  // of another part of the step
    recent.record(true);
  }
  ASSERT_EQ(recent.layers().size(), 1u);
  const RecentNormality::Layer layer = recent.layers().front();
  EXPECT_EQ(layer.layer, "norm");
  EXPECT_DOUBLE_EQ(layer.forward, normal_channels(at::stack(statistics), 10).fraction());
  EXPECT_GE(layer.gradient, 0);
}

TEST(RecentNormality, OfANormWithoutAStatisticOfItsGradient) {
  const auto model = std::make_shared<OneNorm>(std::make_shared<nn::BatchNorm>(4, nn::BatchNormOptions{}));
  const RecentNormality recent(*model, 8);
  for (int pass = 0; pass < 8; ++pass) model->norm->forward(at::randn({5, 4}));
  ASSERT_EQ(recent.layers().size(), 1u);
  EXPECT_TRUE(std::isnan(recent.layers().front().gradient));
}

}  // namespace
}  // namespace cachet::analysis
