#include "cachet/ops/attention/kernel_attention.h"
#include "cachet/ops/cache/grc_update.h"
#include "cachet/ops/cache/mix_heads.h"
#include "cachet/ops/detection/nms.h"
#include "cachet/ops/detection/roi_align.h"
#include "cachet/ops/linear/linear.h"
#include "cachet/ops/norm/power_norm.h"
#include "cachet/ops/norm/unified_norm.h"
#include "tests/support/on_device.h"

namespace cachet {
namespace {

using Inputs = std::vector<at::Tensor>;
using test::expect_same_on_device;

// Each operator on another device is its unfused form; what it gives is what it gives on the CPU.
class OperatorsOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::test_device()) GTEST_SKIP() << "CACHET_TEST_DEVICE names no device";
    device_ = *test::test_device();
  }
  c10::Device device_{c10::kCPU};
};

TEST_F(OperatorsOnDevice, Linear) {
  const Inputs inputs{at::randn({3, 7, 16}), at::randn({12, 16}), at::randn({12})};
  expect_same_on_device([](const Inputs& in) { return ops::linear(in[0], in[1], in[2]); }, inputs, device_);
  expect_same_on_device([](const Inputs& in) { return ops::linear_gelu(in[0], in[1], in[2]); }, inputs, device_);
}

TEST_F(OperatorsOnDevice, MixHeads) {
  expect_same_on_device([](const Inputs& in) { return ops::mix_heads(in[0], in[1], in[2]); },
                        {at::randn({2, 9, 4, 8}), at::randn({2, 9, 4, 4}), at::randn({4})}, device_);
}

TEST_F(OperatorsOnDevice, RoiAlign) {
  const at::Tensor corner = at::rand({9, 2}) * 20, image = at::arange(9).remainder(2).to(at::kFloat).unsqueeze(1);
  const at::Tensor boxes = at::cat({image, corner, corner + at::rand({9, 2}) * 30}, 1);
  for (const int64_t sampling : {0, 2})
    expect_same_on_device(
        [&](const Inputs& in) {
          return ops::roi_align(in[0], boxes.to(in[0].device()), {3, 4, 0.25, sampling});
        },
        {at::randn({2, 5, 9, 11})}, device_);
}

TEST_F(OperatorsOnDevice, Nms) {
  const at::Tensor corner = at::randint(40, {900, 2}).to(at::kFloat), scores = at::rand({900});
  const at::Tensor boxes = at::cat({corner, corner + at::randint(1, 9, {900, 2})}, 1);
  const at::Tensor groups = at::randint(3, {900}, at::kLong);
  const at::Tensor there = ops::nms_indices(boxes.to(device_), scores.to(device_), groups.to(device_), 0.3);
  EXPECT_TRUE(at::equal(there.cpu(), ops::nms_indices(boxes, scores, groups, 0.3)));
}

TEST_F(OperatorsOnDevice, GrcUpdate) {
  const auto gate = [] { return at::randn({8, 16}); };
  expect_same_on_device(
      [](const Inputs& in) {
        const auto update = ops::grc_update(in[0], in[1], {in[2], in[5]}, {in[3], in[6]}, {in[4], in[7]});
        return at::cat({update.samples, update.mean});
      },
      {at::randn({1, 6, 8}), at::randn({3, 6, 8}), gate(), gate(), gate(), at::randn({8}), at::randn({8}),
       at::randn({8})},
      device_);
}

TEST_F(OperatorsOnDevice, KernelAttention) {
  for (const bool causal : {false, true})
    expect_same_on_device(
        [causal](const Inputs& in) {
          const ops::FeatureMap map{{in[3]}, {ops::FeatureUnit::softplus_glu}};
          return ops::kernel_attention(in[0], in[1], in[2], map, {}, causal, 1e-6);
        },
        {at::randn({2, 2, 33, 8}), at::randn({2, 2, 33, 8}), at::randn({2, 2, 33, 5}), at::randn({2, 8, 16}) * 0.3},
        device_);
}

// State and counters live where the norm does; the training step is one of the warm-up, then one on the window.
TEST_F(OperatorsOnDevice, UnifiedNorm) {
  expect_same_on_device(
      [](const Inputs& in) {
        ops::UnifiedNormSettings settings;
        settings.warmup = 1;
        const auto state = ops::initial_unified_norm_state(6, settings, in[0].options().requires_grad(false));
        ops::unified_norm(in[0], in[1], in[2], {}, state, settings);
        return ops::unified_norm(in[0] * 2, in[1], in[2], {}, state, settings).output;
      },
      {at::randn({4, 5, 6}), at::rand({6}), at::randn({6})}, device_);
}

}  // namespace
}  // namespace cachet
