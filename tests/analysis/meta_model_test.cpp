#include "cachet/analysis/meta_model.h"

#include <gtest/gtest.h>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"

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

}  // namespace
}  // namespace cachet::analysis
