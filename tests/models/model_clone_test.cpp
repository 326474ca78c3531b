// Every model × norm × cache, and × attention function: a clone is a copy on its own.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/models/vision/pyramid_vision_transformer.h"
#include "tests/support/clone_check.h"
#include "tests/support/small_models.h"

namespace cachet::models {
namespace {

using test::Settings;
using test::SmallModel;

void expect_model_clones(const SmallModel& small, const Settings& plug_ins) {
  SCOPED_TRACE(test::text_of(plug_ins));
  const auto model = test::built(small, plug_ins);
  model->train();
  {
    const at::NoGradGuard no_grad;
    model->trial(3, at::kFloat).forward();  // caches and statistics that moved
  }
  // Synthetic samples are drawn from the generator, whose seed is the same for both.
  test::expect_clones<Model>(model, [](Model& each) {
    at::Generator random = at::detail::getDefaultCPUGenerator();
    const at::Tensor kept = random.get_state();
    random.set_current_seed(1);
    const Trial trial = each.trial(2, at::kFloat);
    random.set_state(kept);
    return trial.forward();
  });
}

class ModelClone : public ::testing::TestWithParam<SmallModel> {};

TEST_P(ModelClone, StandsOnItsOwnWithAnyNormAndCache) {
  for (const std::string& norm : test::norm_kinds())
    for (Settings plug_ins : test::cache_settings(GetParam().has_grid)) {
      plug_ins.push_back("norm.kind=" + norm);
      expect_model_clones(GetParam(), plug_ins);
    }
}

TEST_P(ModelClone, StandsOnItsOwnWithAnyAttention) {
  if (GetParam().name.starts_with("swin")) GTEST_SKIP() << "softmax alone";
  for (const char* function :
       {"attention.kind=elu", "attention.kind=kernel", "attention.kind=performer", "attention.kind=local"})
    expect_model_clones(GetParam(), {function, "cache.kind=grc"});
  if (GetParam().name.starts_with("pvt")) return;  // queries and keys come from other tokens
  for (const Settings& function : {Settings{"attention.kind=bigbird", "attention.block_size=4"},
                                   Settings{"attention.kind=reformer", "attention.chunk_size=4"}})
    expect_model_clones(GetParam(), function);
}

INSTANTIATE_TEST_SUITE_P(Models, ModelClone, ::testing::ValuesIn(test::small_models()),
                         [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

TEST(ModelClone, ModelsThatWriteTextStandOnTheirOwnWithAnyNormAndCache) {
  for (const SmallModel& small : test::small_text_models())
    for (const std::string& norm : test::norm_kinds())
      for (Settings plug_ins : test::cache_settings(/*has_grid=*/false)) {
        plug_ins.push_back("norm.kind=" + norm);
        SCOPED_TRACE(small.name);
        expect_model_clones(small, plug_ins);
      }
}

TEST(ModelClone, BackbonesWithoutAClassifierToo) {
  auto options = PyramidVisionTransformerOptions{
      .image = {.height = 64, .width = 96},
      .stages = {{.embed_dim = 8, .depth = 1, .num_heads = 1}, {.embed_dim = 16, .depth = 1, .num_heads = 2}}};
  const auto backbone = std::make_shared<PyramidVisionTransformer>(options);
  const at::Tensor images = at::randn({2, 3, 64, 96});
  test::expect_clones<PyramidVisionTransformer>(
      backbone, [&](PyramidVisionTransformer& each) { return each.features(images).back(); });
}

TEST(ModelClone, KeepsTypeDeviceAndFlags) {
  const auto model = test::built(test::small_models().front(), {"cache.kind=grc", "norm.kind=un"});
  model->to(at::kBFloat16);
  model->eval();
  model->parameters().front().set_requires_grad(false);
  model->children().front()->train();
  test::expect_same_form(*model->clone(), *model);
  const auto elsewhere = model->clone(at::Device(at::kMeta));
  for (const at::Tensor& tensor : elsewhere->parameters()) EXPECT_TRUE(tensor.is_meta());
  for (const at::Tensor& tensor : elsewhere->buffers()) EXPECT_TRUE(tensor.is_meta());
  EXPECT_EQ(elsewhere->parameters().front().dtype(), at::kBFloat16);
  EXPECT_FALSE(elsewhere->parameters().front().requires_grad());
}

}  // namespace
}  // namespace cachet::models
