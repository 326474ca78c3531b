#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "tests/support/on_device.h"

namespace cachet {
namespace {

struct DeviceCase {
  const char* name;
  std::vector<const char*> settings;
};

std::shared_ptr<models::Model> small_model_of(const DeviceCase& each) {
  config::Document document;
  for (const char* setting : each.settings) document.set(std::string("model.") + setting);
  const auto plan = models::read_model(each.name, document.root().table("model"));
  document.finish();
  return plan.build();
}

at::Tensor logits_of(models::Model& model, const at::Tensor& input) {
  if (auto* images = dynamic_cast<models::ImageClassifier*>(&model)) return images->forward(input);
  return dynamic_cast<models::SequenceClassifier&>(model).forward({input, {}}, {});
}

/// Logits, then the gradient of each parameter, of a training step on a device, in a type.
std::vector<at::Tensor> step_on(const DeviceCase& each, const models::Model& weights, const at::Tensor& input,
                                c10::Device device, at::ScalarType type) {
  const auto model = small_model_of(each);
  {
    at::NoGradGuard no_grad;
    auto own = model->named_parameters();
    for (const auto& item : weights.named_parameters()) own[item.key()].copy_(item.value());
    own = model->named_buffers();  // random features among them
    for (const auto& item : weights.named_buffers()) own[item.key()].copy_(item.value());
  }
  model->to(device, type);
  model->train();
  const at::Tensor logits = logits_of(*model, input.is_floating_point() ? input.to(device, type) : input.to(device));
  logits.square().mean().backward();
  std::vector<at::Tensor> results{logits.detach().to(at::kCPU, at::kDouble)};
  for (const auto& parameter : model->parameters())
    results.push_back(parameter.grad().defined() ? parameter.grad().to(at::kCPU, at::kDouble) : at::Tensor());
  return results;
}

void expect_near(const at::Tensor& expected, const at::Tensor& found, double tolerance, const char* what) {
  const double most = (expected - found).abs().max().item<double>();
  EXPECT_LE(most, tolerance * (expected.abs().max().item<double>() + 1e-6)) << what;
}

// A training step of each family with its plug-ins, weights and state and all, gives what it gives on the CPU. Sums
// come in another order, hundreds of them one after the other: in float64 1e-9 of the largest element. In float32 the
// logits must agree within 1e-4; of gradients the smallest (1e-8 next to others of 1) are sums that cancel, and
// have no meaning in that type.
TEST(ModelsOnDevice, TakeTheSameStepAsOnTheCpu) {
  const auto device = test::test_device();
  if (!device) GTEST_SKIP() << "CACHET_TEST_DEVICE names no device";
  const std::vector<DeviceCase> cases{
      {"vit_tiny_patch16_224", {"image_size=32", "depth=2", "cache.kind=grc", "norm.kind=un"}},
      {"vit_tiny_patch16_224", {"image_size=32", "depth=2", "attention.kind=kernel", "attention.form=glu"}},
      {"vit_tiny_patch16_224", {"image_size=32", "depth=2", "cache.kind=fifo", "norm.kind=batch"}},
      {"pvt_tiny", {"image_size=64", "cache.kind=grc", "cache.variant=official"}},
      {"pvt_v2_b0", {"image_size=64", "norm.kind=pn"}},
      {"swin_tiny_patch4_window7_224", {"image_size=56", "depths=[1, 2, 1, 1]", "cache.kind=grc"}},
      {"t2t_vit_14", {"image_size=56", "depth=2", "norm.kind=mabn", "token_dropout=0.0"}},
      {"lra_text", {"max_length=128", "depth=1", "dropout=0.0", "attention.kind=bigbird", "attention.block_size=16"}},
  };
  for (const DeviceCase& each : cases) {
    SCOPED_TRACE(each.name);
    const auto weights = small_model_of(each);
    at::Tensor input = at::randint(257, {2, 128}, at::kLong);
    if (const auto* images = dynamic_cast<const models::ImageClassifier*>(weights.get())) {
      const auto shape = images->image_shape();
      input = at::randn({2, shape.channels, shape.height, shape.width});
    }
    const auto expected = step_on(each, *weights, input, c10::kCPU, at::kDouble);
    const auto found = step_on(each, *weights, input, *device, at::kDouble);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(expected[i].defined(), found[i].defined()) << i;
      if (!expected[i].defined()) continue;
      expect_near(expected[i], found[i], 1e-9, i == 0 ? "logits" : "a gradient");
    }
    expect_near(expected[0], step_on(each, *weights, input, *device, at::kFloat)[0], 1e-4, "logits in float32");
  }
}

}  // namespace
}  // namespace cachet
