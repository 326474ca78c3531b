#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/norm_options.h"
#include "cachet/nn/norm/power_norm.h"
#include "cachet/nn/norm/unified_norm.h"
#include "tests/support/all_norms.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::all_norms;

TEST(Norms, KeepShapeAndTypeAndNeverReadThePadding) {
  const at::Tensor padding = at::tensor({0, 0, 1, 0, 1, 1}).view({2, 3}).to(at::kBool);
  for (const auto dtype : {at::kFloat, at::kBFloat16})
    for (const auto& [name, options] : all_norms()) {
      at::Tensor results[2];
      for (const bool noisy : {false, true}) {
        const auto norm = nn::make_norm(options, 4);
        norm->to(dtype);
        at::manual_seed(2);
        const at::Tensor x = at::randn({2, 3, 4}).to(dtype).masked_fill(padding.unsqueeze(2), noisy ? 1e30 : 0.0);
        const at::Tensor y = norm->forward(x, padding);
        EXPECT_EQ(y.sizes(), x.sizes()) << name;
        EXPECT_EQ(y.scalar_type(), dtype) << name;
        results[noisy] = y.masked_fill(padding.unsqueeze(2), 0);
      }
      EXPECT_TRUE(at::equal(results[0], results[1])) << name;
    }
}

TEST(Norms, OfflineOnesAreTheAffineMapThatTheyAnswer) {
  for (const auto& [name, options] : all_norms()) {
    const auto norm = nn::make_norm(options, 4);
    norm->to(at::kDouble);
    for (int i = 0; i < 5; ++i) norm->forward(at::randn({3, 2, 4}, at::kDouble) * 3 + 1);
    norm->eval();
    const auto affine = norm->inference_affine();
    EXPECT_EQ(affine.has_value(), !test::is_online(options)) << name;
    if (!affine) continue;
    const at::Tensor x = at::randn({2, 3, 4}, at::kDouble);
    EXPECT_TRUE(at::allclose(norm->forward(x), x * affine->scale + affine->shift, 1e-10, 1e-12)) << name;
  }
}

TEST(Norms, StatisticsStayFloat32InANarrowModel) {
  for (const auto& [name, options] : all_norms()) {
    const auto norm = nn::make_norm(options, 4);
    norm->to(at::kBFloat16);
    for (const auto& buffer : norm->named_buffers())
      EXPECT_TRUE(buffer.value().scalar_type() == at::kFloat || buffer.value().scalar_type() == at::kLong)
          << name << ' ' << buffer.key();
  }
}

TEST(Norms, GradientsEqualFiniteDifferences) {
  // UN and PN smooth their gradients on purpose: the operators' tests have the cases where they are exact.
  const at::Tensor weight = at::randn({2, 3, 4}, at::kDouble);
  const at::Tensor padding = at::tensor({0, 0, 0, 0, 1, 1}).view({2, 3}).to(at::kBool);
  for (const auto& [name, options] : all_norms()) {
    if (name.starts_with("un") || name == "mabn" || name.starts_with("pn")) continue;
    for (const auto& mask : {at::Tensor(), padding}) {
      const auto norm = nn::make_norm(options, 4);
      norm->to(at::kDouble);
      const at::Tensor kept = mask.defined() ? weight.masked_fill(mask.unsqueeze(2), 0) : weight;
      SCOPED_TRACE(name);
      test::expect_gradients([&](const auto& in) { return (norm->forward(in[0], mask) * kept).sum(); },
                             {at::randn({2, 3, 4})});
    }
  }
}

// Both sequences of a pair go through one norm, and both ways back come after both ways forward.
TEST(Norms, GoBackwardAfterASecondPass) {
  for (const bool padded : {false, true}) {
    for (const auto& [name, options] : all_norms()) {
      SCOPED_TRACE(name);
      const auto norm = nn::make_norm(options, 4);
      norm->train();
      const at::Tensor first = at::randn({3, 5, 4}).requires_grad_(), second = at::randn({3, 5, 4});
      const at::Tensor padding = padded ? at::zeros({3, 5}, at::kBool) : at::Tensor();
      const at::Tensor a = norm->forward(first, padding), b = norm->forward(second, padding);
      EXPECT_NO_THROW((a.square().sum() + b.sum()).backward());
    }
  }
}

TEST(BatchNorm, MaskedStatisticsEqualThoseOfTheValidTokensAlone) {
  const at::Tensor padding = at::tensor({0, 0, 1, 0, 0, 1}).view({2, 3}).to(at::kBool);
  const at::Tensor x = at::randn({2, 3, 4}, at::kDouble), valid = x.index({padding.logical_not()});
  nn::BatchNorm masked(4, {}), plain(4, {});
  masked.to(at::kDouble);
  plain.to(at::kDouble);
  const at::Tensor y = masked.forward(x, padding).index({padding.logical_not()});
  EXPECT_TRUE(at::allclose(y, plain.forward(valid), 1e-10, 1e-12));
  EXPECT_TRUE(at::allclose(masked.running_var, plain.running_var, 1e-10, 1e-12));
  EXPECT_TRUE(at::allclose(masked.running_mean, plain.running_mean, 1e-10, 1e-12));
}

TEST(BatchNorm, RefusesToTrainOnOneToken) {
  nn::BatchNorm norm(4, {});
  test::expect_refused([&] { norm.forward(at::randn({1, 4})); }, "training needs at least two tokens");
  norm.eval();
  EXPECT_EQ(norm.forward(at::randn({1, 4})).size(0), 1);
}

TEST(UnifiedNorm, TakesABatchOfOneToken) {
  nn::UnifiedNorm norm(4, ops::UnifiedNormSettings{});
  EXPECT_TRUE(norm.forward(at::randn({1, 1, 4})).isfinite().all().item<bool>());
  EXPECT_EQ(norm.steps(), 1);
}

void expect_statistics_told(const std::shared_ptr<nn::Norm>& norm) {
  std::map<nn::Signal, at::Tensor> seen;
  const at::Tensor x = at::randn({6, 4}).requires_grad_();
  {
    const nn::Observation observation(*norm,
                                      [&](const std::string&, nn::Signal s, const at::Tensor& v) { seen[s] = v; });
    norm->forward(x).pow(3).sum().backward();
  }
  EXPECT_TRUE(at::allclose(seen.at(nn::Signal::statistic), x.detach().square().mean(0), 1e-6, 1e-6));
  EXPECT_TRUE(seen.count(nn::Signal::used_statistic));
  EXPECT_GT(seen.at(nn::Signal::gradient_statistic).abs().sum().item<double>(), 0);
  seen.clear();
  norm->forward(x);
  EXPECT_TRUE(seen.empty()) << "nobody listens any more";
}

TEST(UnifiedNorm, IsObservedForwardAndBackward) {
  ops::UnifiedNormSettings settings;
  settings.warmup = 0;
  expect_statistics_told(std::make_shared<nn::UnifiedNorm>(4, settings));
}

TEST(PowerNorm, IsObservedForwardAndBackward) {
  expect_statistics_told(std::make_shared<nn::PowerNorm>(4, nn::PowerNormOptions{{}, /*group_scaling=*/false}));
}

// What the step's own statistics are, by their definitions: mean x² and, for a loss Σ y³ over y = z, mean 3·z³.
void expect_own_statistics(nn::Norm& norm, const at::Tensor& values, const std::string& when) {
  std::map<nn::Signal, at::Tensor> seen;
  const at::Tensor x = values.clone().requires_grad_();
  const nn::Observation observation(norm, [&](const std::string&, nn::Signal s, const at::Tensor& v) { seen[s] = v; });
  norm.forward(x).pow(3).sum().backward();
  const at::Tensor z = values * at::rsqrt(seen.at(nn::Signal::used_statistic) + 1e-5);
  EXPECT_TRUE(at::allclose(seen.at(nn::Signal::statistic), values.square().mean(0), 1e-6, 1e-8)) << when;
  EXPECT_TRUE(at::allclose(seen.at(nn::Signal::gradient_statistic), (3 * z.pow(3)).mean(0), 1e-6, 1e-8)) << when;
}

TEST(UnifiedNorm, TellsTheOwnStatisticsOfFilteredStepsToo) {
  for (const bool official : {false, true})
    for (const int64_t window : {1, 4}) {
      ops::UnifiedNormSettings settings;
      settings.warmup = 0;
      settings.official = official;
      settings.forward_window = settings.backward_window = window;
      const auto norm = std::make_shared<nn::UnifiedNorm>(4, settings);
      norm->to(at::kDouble);
      for (int step = 0; step < 12; ++step) {
        const double size = step == 8 ? 1e3 : 1;
        expect_own_statistics(*norm, at::randn({6, 4}, at::kDouble) * size,
                              (official ? "official, window " : "paper's, window ") + std::to_string(window) +
                                  ", step " + std::to_string(step));
      }
      EXPECT_EQ(norm->steps_filtered() > 0, window > 1);
    }
}

TEST(PowerNorm, TellsTheOwnStatisticsOfEachStep) {
  nn::PowerNormOptions options{{}, /*group_scaling=*/false};
  options.settings.warmup = 2;
  const auto norm = std::make_shared<nn::PowerNorm>(4, options);
  norm->to(at::kDouble);
  for (int step = 0; step < 6; ++step)
    expect_own_statistics(*norm, at::randn({6, 4}, at::kDouble), "step " + std::to_string(step));
}

TEST(Norms, KeepTheirStateWhereAllIsPadding) {
  for (const auto& [name, options] : all_norms()) {
    const auto norm = nn::make_norm(options, 4);
    const at::Tensor none = at::zeros({2, 3}, at::kBool), all = at::ones({2, 3}, at::kBool);
    for (int step = 0; step < 3; ++step) norm->forward(at::randn({2, 3, 4}).requires_grad_(), none).sum().backward();
    std::map<std::string, at::Tensor> before;
    for (const auto& buffer : norm->named_buffers()) before[buffer.key()] = buffer.value().clone();
    const at::Tensor x = at::randn({2, 3, 4}).requires_grad_();
    (norm->forward(x, all) * 0).sum().backward();
    for (const auto& buffer : norm->named_buffers())
      EXPECT_TRUE(at::equal(buffer.value(), before.at(buffer.key()))) << name << ' ' << buffer.key();
  }
}

TEST(BatchNorm, KeepsItsAveragesWhereOneTokenIsLeft) {
  nn::BatchNorm norm(4, {});
  at::Tensor padding = at::ones({2, 3}, at::kBool);
  padding[1][2].fill_(false);
  norm.forward(at::randn({2, 3, 4}), padding);
  EXPECT_TRUE(at::equal(norm.running_mean, at::zeros({4})));
  EXPECT_TRUE(at::equal(norm.running_var, at::ones({4})));
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 0);
}

TEST(Norms, KeepTheirStateWhereThereAreNoTokens) {
  for (const auto& [name, options] : all_norms()) {
    if (name == "batch") continue;  // which needs two to train
    const auto norm = nn::make_norm(options, 4);
    for (int step = 0; step < 3; ++step) norm->forward(at::randn({2, 3, 4}).requires_grad_()).sum().backward();
    std::map<std::string, at::Tensor> before;
    for (const auto& buffer : norm->named_buffers()) before[buffer.key()] = buffer.value().clone();
    const at::Tensor x = at::zeros({2, 0, 4}).requires_grad_();
    norm->forward(x).sum().backward();
    for (const auto& buffer : norm->named_buffers())
      EXPECT_TRUE(at::equal(buffer.value(), before.at(buffer.key()))) << name << ' ' << buffer.key();
  }
}

TEST(Observation, GivesBackWhoListenedBefore) {
  const auto norm = std::make_shared<nn::UnifiedNorm>(4, ops::UnifiedNormSettings{});
  int outer = 0, inner = 0;
  const auto counting = [](int& count) {
    return nn::Listener([&count](const std::string&, nn::Signal, const at::Tensor&) { ++count; },
                        {nn::Signal::used_statistic});
  };
  const nn::Observation first(*norm, counting(outer));
  {
    const nn::Observation second(*norm, counting(inner));
    norm->forward(at::randn({6, 4}));
  }
  EXPECT_EQ(std::pair(outer, inner), std::pair(0, 1));
  norm->forward(at::randn({6, 4}));
  EXPECT_EQ(std::pair(outer, inner), std::pair(1, 1));
}

TEST(Observation, EndsWhereAModuleIsThereTwice) {
  struct Twice : torch::nn::Module {
    Twice() {
      register_module("one", norm);
      register_module("other", norm);
    }
    std::shared_ptr<nn::UnifiedNorm> norm = std::make_shared<nn::UnifiedNorm>(4, ops::UnifiedNormSettings{});
  };
  const auto model = std::make_shared<Twice>();
  int count = 0;
  {
    const nn::Observation all(*model, {[&count](const std::string&, nn::Signal, const at::Tensor&) { ++count; },
                                       {nn::Signal::used_statistic}});
    model->norm->forward(at::randn({6, 4}));
  }
  EXPECT_EQ(count, 1);
  model->norm->forward(at::randn({6, 4}));
  EXPECT_EQ(count, 1);
}

TEST(UnifiedNorm, WarmsUpAgainForFineTuning) {
  nn::UnifiedNorm norm(4, ops::UnifiedNormSettings{});
  norm.forward(at::randn({6, 4}));
  const at::Tensor statistics = norm.statistics.clone();
  norm.restart_warmup();
  EXPECT_EQ(norm.steps(), 0);
  EXPECT_TRUE(at::equal(statistics, norm.statistics));
}

}  // namespace
}  // namespace cachet
