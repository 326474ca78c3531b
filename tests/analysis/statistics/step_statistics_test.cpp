#include "cachet/analysis/statistics/step_statistics.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::analysis {
namespace {

TEST(StepStatistics, FluctuationByHand) {
  // Both steps lie 1 from their mean [2, 0]; the mean of ‖s‖² is (1 + 9) / 2.
  const Fluctuation moves = fluctuation_of({at::tensor({1.0, 0.0}, at::kDouble), at::tensor({3.0, 0.0}, at::kDouble)});
  EXPECT_NEAR(moves.steps[0], 1 / std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(moves.overall, 1 / std::sqrt(5.0), 1e-12);
  const Fluctuation still = fluctuation_of({at::ones({3}), at::ones({3})});
  EXPECT_EQ(still.overall, 0);
  // Opposite directions: the mean is zero.
  EXPECT_NEAR(fluctuation_of({at::ones({1}), -at::ones({1})}).overall, 1, 1e-12);
  EXPECT_THROW(fluctuation_of({}), std::invalid_argument);
}

class TwoNorms : public torch::nn::Module {
 public:
  TwoNorms() {
    ops::UnifiedNormSettings settings;
    settings.warmup = 1;
    unified = register_module("unified", std::make_shared<nn::UnifiedNorm>(2, settings));
    layer = register_module("layer", std::make_shared<nn::LayerNorm>(2, 1e-5));
  }
  std::shared_ptr<nn::UnifiedNorm> unified;
  std::shared_ptr<nn::LayerNorm> layer;
};

TEST(StepStatistics, HearsWhatUnifiedNormKeeps) {
  const auto made = std::make_shared<TwoNorms>();
  TwoNorms& model = *made;
  EXPECT_TRUE(has_batch_statistics(model));
  EXPECT_FALSE(has_batch_statistics(*model.layer));
  StepStatistics statistics(model);
  const nn::Observation observation(model, statistics.listener());
  // Tokens whose mean squares are 4 and 9 in the two channels.
  const at::Tensor tokens = at::tensor({2.0, 3.0, -2.0, -3.0}, at::kFloat).view({1, 2, 2});
  for (int step = 0; step < 3; ++step) {
    const at::Tensor x = tokens.clone().requires_grad_();
    model.layer->forward(model.unified->forward(x)).square().sum().backward();
  }
  ASSERT_EQ(statistics.layers().size(), 1u);
  const auto& [path, layer] = *statistics.layers().begin();
  EXPECT_EQ(path, "unified");
  ASSERT_EQ(layer.forward.size(), 3u);
  EXPECT_NEAR(layer.forward[0][0].item<double>(), 4, 1e-5);
  EXPECT_NEAR(layer.forward[0][1].item<double>(), 9, 1e-5);
  EXPECT_EQ(layer.gradient.size(), 3u);
  EXPECT_NEAR(layer.used[0], 6.5, 1e-4);
  ASSERT_EQ(layer.running.size(), 3u);
  EXPECT_NEAR(layer.running[0], model.unified->settings().forward_momentum * 1 + 0.1 * 6.5, 1e-4);
  EXPECT_LT(layer.apart[2], layer.apart[0]);  // the average moves to what does not move
  EXPECT_EQ(layer.filtered, (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace cachet::analysis
