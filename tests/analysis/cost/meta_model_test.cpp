#include "cachet/analysis/cost/meta_model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cachet/analysis/cost/meta_kernels.h"
#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "cachet/nn/norm/norm.h"
#include "tests/support/peak_memory.h"

namespace cachet::analysis {
namespace {

models::ImageClassifierPlan cached_plan() {
  config::Document document;
  document.set("model.cache.kind=grc");
  document.set("model.depth=1");
  return models::read_image_classifier("vit_tiny_patch16_224", document.root().table("model"));
}

TEST(MetaModel, HasTheShapesAndNamesOfTheRealOneAndNoValues) {
  const auto plan = cached_plan();
  const auto real = plan.build();
  const auto meta = build_on_meta(plan);
  const auto parameters = real->named_parameters();
  ASSERT_EQ(meta->named_parameters().size(), parameters.size());
  for (const auto& item : meta->named_parameters()) {
    EXPECT_TRUE(item.value().is_meta()) << item.key();
    EXPECT_TRUE(item.value().requires_grad()) << item.key();
    EXPECT_EQ(item.value().sizes(), parameters[item.key()].sizes()) << item.key();
  }
  for (const auto& item : meta->named_buffers()) EXPECT_TRUE(item.value().is_meta()) << item.key();
}

TEST(MetaModel, ModelsBuiltAfterwardsHaveTheirWeights) {
  build_on_meta(cached_plan());
  const auto model = cached_plan().build();
  EXPECT_GT(model->named_parameters()["head.weight"].std().item<float>(), 0.01f);
}

/// The model of a name with these keys, on the meta device, in both modes. Throws c10::NotImplementedError if it calls
/// an operator that has no shape function there.
void run_on_meta(const std::string& name, const std::vector<std::string>& settings = {}) {
  config::Document document;
  for (const std::string& setting : settings) document.set(setting);
  const models::ModelPlan plan = models::read_model(name, document.root().table("model"));
  document.finish();
  const auto model = build_on_meta(plan);
  const at::NoGradGuard no_grad;
  for (const bool training : {true, false}) {
    model->train(training);
    for (const auto& module : model->modules())
      if (dynamic_cast<nn::Norm*>(module.get())) module->eval();
    model->trial(1, at::TensorOptions(at::kMeta)).forward();
  }
}

TEST(MetaModel, EveryModelHasAShapeFunctionForAllThatItCalls) {
  for (const std::string& name : models::model_names()) EXPECT_NO_THROW(run_on_meta(name)) << name;
}

TEST(MetaModel, AnAdaptiveVocabularyOfAnySizeTakesNoMemoryAndNoProducts) {
  EXPECT_NO_THROW(run_on_meta("transformer_xl_wt103_base", {"model.vocabulary=16777216"}));
}

TEST(MetaModel, LargeWeightsAndCachesTakeNoMemory) {
  if (!test::reset_peak_memory()) GTEST_SKIP() << "the system does not tell the peak";
  const uint64_t before = test::peak_memory();
  const auto build = [](const std::string& name, const std::vector<std::string>& settings) {
    config::Document document;
    for (const std::string& setting : settings) document.set(setting);
    return build_on_meta(models::read_model(name, document.root().table("model")));
  };
  build("pvt_tiny", {"model.embed_dims=[16384, 16384, 16384, 16384]", "model.num_heads=[1, 1, 1, 1]"});
  build("retinanet_pvt_tiny_fpn", {"model.neck.out_channels=16384"});
  build("retinanet_pvt_tiny_fpn", {"model.bbox_head.feat_channels=16384"});
  build("mask_rcnn_pvt_tiny_fpn", {"model.rpn_head.feat_channels=16384"});
  build("mask_rcnn_pvt_tiny_fpn", {"model.roi_head.bbox_head.fc_out_channels=65536"});
  build("mask_rcnn_pvt_tiny_fpn", {"model.roi_head.mask_head.conv_out_channels=16384"});
  build("vit_tiny_patch16_224", {"model.cache.kind=grc", "model.cache.length=1000000"});
  build("vit_tiny_patch16_224", {"model.cache.kind=fifo", "model.cache.length=1000000"});
  EXPECT_LT(test::peak_memory() - before, uint64_t{1} << 30);
}

/// The plan of a model with this key; none if the model has no such key, or not with this value.
std::optional<models::ModelPlan> plan_with(const std::string& name, const std::string& setting) {
  try {
    config::Document document;
    document.set(setting);
    models::ModelPlan plan = models::read_model(name, document.root().table("model"));
    document.finish();
    return plan;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// A model with large matrices.
models::ModelPlan wide_plan(const std::string& name) {
  for (const char* setting :
       {"model.embed_dim=10752", "model.embed_dim=3072", "model.embed_dims=[2560, 2560, 10240, 10240]",
        "model.backbone.embed_dims=[2560, 2560, 10240, 10240]", "model.backbone.embed_dim=3072"})
    if (auto plan = plan_with(name, setting)) return *std::move(plan);
  throw std::runtime_error("no key makes " + name + " wide");
}

TEST(MetaModel, NoModelWritesItsWeights) {
  for (const std::string& name : models::model_names()) {
    const models::ModelPlan plan = wide_plan(name);
    if (!test::reset_peak_memory()) GTEST_SKIP() << "the system does not tell the peak";
    const uint64_t before = test::peak_memory();
    const auto model = build_on_meta(plan);
    const uint64_t taken = test::peak_memory() - before;
    uint64_t weights = 0;
    for (const auto& parameter : model->parameters()) weights += parameter.nbytes();
    EXPECT_GT(weights, uint64_t{1} << 25) << name;
    EXPECT_LT(taken, weights / 8 + (uint64_t{1} << 24)) << name;
  }
}

TEST(MetaModel, ShapesAreThoseOfTheCpu) {
  register_meta_kernels();
  const auto same = [](const at::Tensor& x, const auto& function) {
    EXPECT_EQ(function(x).sizes(), function(x.to(at::kMeta)).sizes());
  };
  same(at::rand({2, 3, 9, 8}), [](const at::Tensor& x) { return x.relu(); });
  same(at::rand({2, 3, 9, 8}), [](const at::Tensor& x) { return at::adaptive_avg_pool2d(x, {4, 3}); });
  for (const at::Tensor& x : {at::rand({2, 3, 9, 8}), at::rand({3, 9, 8})})
    same(x, [](const at::Tensor& y) { return at::im2col(y, {3, 2}, {2, 1}, {1, 0}, {2, 3}); });
  same(at::rand({5, 4}),
       [](const at::Tensor& x) { return at::where(x.gt(0.5).narrow(1, 0, 1), x, x.narrow(0, 0, 1)); });
  same(at::rand({5, 4}), [](const at::Tensor& x) { return x.index_select(-2, at::arange(3)); });
}

}  // namespace
}  // namespace cachet::analysis
