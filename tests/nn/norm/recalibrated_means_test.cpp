#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/power_norm.h"
#include "cachet/nn/norm/unified_norm.h"
#include "cachet/ops/support/recalibrated.h"

namespace cachet::nn {
namespace {

constexpr int64_t kRenewalChannels = 3;

/// Batches of unequal lengths. The last is far larger than the others.
std::vector<at::Tensor> renewal_batches() {
  at::manual_seed(1);
  return {at::randn({2, 5, kRenewalChannels}), at::randn({1, 8, kRenewalChannels}) * 3 + 1,
          at::randn({4, 3, kRenewalChannels}) * 30 - 2};
}

template <class Statistic>
at::Tensor mean_over(const std::vector<at::Tensor>& batches, const Statistic& statistic) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& batch : batches) all.push_back(statistic(batch.to(at::kDouble).flatten(0, -2)));
  return at::stack(all).mean(0);
}

void renew(Norm& norm, const std::vector<at::Tensor>& batches, const std::vector<at::Tensor>& padding = {}) {
  const at::NoGradGuard no_grad;
  auto& renewable = dynamic_cast<ops::Recalibrated&>(norm);
  norm.train();
  renewable.begin_renewal();
  for (size_t i = 0; i < batches.size(); ++i) norm.forward(batches[i], padding.empty() ? at::Tensor() : padding[i]);
  renewable.end_renewal();
}

/// State as if training had left it: nothing of it may enter what is renewed.
void spoil(torch::nn::Module& norm, double value) {
  const at::NoGradGuard no_grad;
  for (at::Tensor& state : norm.buffers())
    if (state.is_floating_point()) state.fill_(value);
}

void expect_statistic(const at::Tensor& found, const at::Tensor& wanted) {
  EXPECT_TRUE(found.to(at::kDouble).allclose(wanted, 1e-6, 1e-6)) << found << "\n" << wanted;
}

// torch.optim.swa_utils.update_bn: means of the batches' means and of their unbiased variances.
TEST(Renewal, OfBatchNormIsAMeanOverTheBatches) {
  const std::vector<at::Tensor> batches = renewal_batches();
  for (const double before : {0.0, 500.0}) {
    BatchNorm norm(kRenewalChannels, {});
    spoil(norm, before);
    norm.num_batches_tracked.fill_(77);
    renew(norm, batches);
    expect_statistic(norm.running_mean, mean_over(batches, [](const at::Tensor& x) { return x.mean(0); }));
    expect_statistic(norm.running_var, mean_over(batches, [](const at::Tensor& x) { return x.var(0); }));
    EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 3);
  }
}

// 1, 3 and 5, 9: means 2 and 7, unbiased variances 2 and 8.
TEST(Renewal, OfBatchNormByHand) {
  BatchNorm norm(1, {});
  renew(norm, {at::tensor({1.0F, 3.0F}).view({1, 2, 1}), at::tensor({5.0F, 9.0F}).view({1, 2, 1})});
  EXPECT_FLOAT_EQ(norm.running_mean.item<float>(), 4.5F);
  EXPECT_FLOAT_EQ(norm.running_var.item<float>(), 5.0F);
}

TEST(Renewal, CountsNoPaddingAndNoEmptyBatch) {
  const std::vector<at::Tensor> batches{at::tensor({1.0F, 3.0F, 99.0F}).view({1, 3, 1}),
                                        at::tensor({99.0F, 99.0F}).view({1, 2, 1}),
                                        at::tensor({5.0F, 9.0F}).view({1, 2, 1})};
  const std::vector<at::Tensor> padding{at::tensor({0, 0, 1}).to(at::kBool).view({1, 3}),
                                        at::full({1, 2}, true, at::kBool), at::full({1, 2}, false, at::kBool)};
  BatchNorm batch(1, {});
  renew(batch, batches, padding);
  EXPECT_FLOAT_EQ(batch.running_mean.item<float>(), 4.5F);
  EXPECT_FLOAT_EQ(batch.running_var.item<float>(), 5.0F);
  EXPECT_EQ(batch.num_batches_tracked.item<int64_t>(), 2);
  UnifiedNorm unified(1, {});
  renew(unified, batches, padding);
  EXPECT_FLOAT_EQ(unified.statistics[0].item<float>(), (5.0F + 53.0F) / 2) << "mean squares 5 and 53";
  spoil(unified, 2);
  renew(unified, {batches[1]}, {padding[1]});
  EXPECT_EQ(unified.statistics[0].item<float>(), 2) << "without a token it stays";
}

TEST(Renewal, OfNormsWithoutAMeanIsThatOfTheirSquares) {
  const std::vector<at::Tensor> batches = renewal_batches();
  const at::Tensor wanted = mean_over(batches, [](const at::Tensor& x) { return x.square().mean(0); });
  std::vector<std::shared_ptr<Norm>> norms;
  for (const bool official : {false, true})
    for (const int64_t warmup : {0, 2, 4000}) {
      ops::UnifiedNormSettings settings;
      settings.official = official;
      settings.warmup = warmup;
      norms.push_back(std::make_shared<UnifiedNorm>(kRenewalChannels, settings));
    }
  PowerNormOptions power;
  power.group_scaling = false;
  for (const int64_t warmup : {0, 10'000}) {
    power.settings.warmup = warmup;
    norms.push_back(std::make_shared<PowerNorm>(kRenewalChannels, power));
  }
  for (const auto& norm : norms) {
    SCOPED_TRACE(norm->name());
    spoil(*norm, 7);
    const at::Tensor counters = norm->named_buffers()["counters"].clone();
    renew(*norm, batches);
    const at::Tensor statistics = norm->named_buffers()["statistics"];
    expect_statistic(statistics[0], wanted);
    EXPECT_TRUE(statistics.narrow(0, 1, statistics.size(0) - 1).eq(7).all().item<bool>())
        << "what belongs to training stays";
    EXPECT_TRUE(norm->named_buffers()["counters"].equal(counters));
  }
}

TEST(Renewal, IsOverWhenItEnds) {
  const std::vector<at::Tensor> batches = renewal_batches();
  BatchNorm renewed(kRenewalChannels, {}), plain(kRenewalChannels, {});
  renew(renewed, batches);
  const at::NoGradGuard no_grad;
  plain.running_mean.copy_(renewed.running_mean);
  plain.running_var.copy_(renewed.running_var);
  for (BatchNorm* norm : {&renewed, &plain}) norm->forward(batches[0]);
  EXPECT_TRUE(renewed.running_mean.equal(plain.running_mean));
  EXPECT_TRUE(renewed.running_var.equal(plain.running_var));
}

}  // namespace
}  // namespace cachet::nn
