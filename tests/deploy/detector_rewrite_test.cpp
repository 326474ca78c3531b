// Detectors of every kind: what deployment rewrites of their backbones changes nothing that they find.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/deploy/rewrite.h"
#include "tests/support/small_detectors.h"

namespace cachet::deploy {
namespace {

using test::Settings;
using test::SmallModel;

class DetectorRewrite : public ::testing::TestWithParam<SmallModel> {};

TEST_P(DetectorRewrite, FindsTheSame) {
  const at::NoGradGuard no_grad;
  const std::vector<std::pair<std::string, Settings>> cases{
      {"layer", {"cache.kind=fifo"}}, {"batch", {}}, {"un", {"cache.kind=grc"}}};
  for (const auto& [norm, cache] : cases) {
    Settings plug_ins = cache;
    plug_ins.insert(plug_ins.end(), {"norm.kind=" + norm, "test.score_thr=0.0"});
    SCOPED_TRACE(test::text_of(plug_ins));
    const auto model = test::built_detector(GetParam(), plug_ins);
    model->to(at::kDouble);
    model->train();
    const auto batch = test::synthetic_batch(at::kDouble);
    for (int step = 0; step < 3; ++step) model->losses(batch);
    for (at::Tensor& parameter : model->parameters()) parameter.add_(at::randn_like(parameter) / 8);
    model->eval();
    const auto expected = model->detect(batch.images, batch.sizes);
    const RewriteReport report = rewrite(*model);
    const auto found = model->detect(batch.images, batch.sizes);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(at::equal(found[i].labels, expected[i].labels));
      EXPECT_TRUE(at::allclose(found[i].boxes, expected[i].boxes, 1e-8, 1e-8));
      EXPECT_TRUE(at::allclose(found[i].scores, expected[i].scores, 1e-8, 1e-8));
      if (model->outlines_objects()) {
        EXPECT_TRUE(at::allclose(found[i].mask_scores, expected[i].mask_scores, 1e-8, 1e-8));
      }
    }
    int64_t caches = 0, folded = 0;
    for (const RewrittenPart& place : report.parts) {
      EXPECT_TRUE(place.path.starts_with("backbone.")) << place.path;
      if (place.kind == RewrittenPart::Kind::cache) {
        ++caches;
        EXPECT_TRUE(place.gone) << place.path << ": " << place.reason;
      }
      if (place.kind == RewrittenPart::Kind::norm && place.gone) ++folded;
    }
    EXPECT_EQ(caches > 0, !cache.empty());
    EXPECT_EQ(folded > 0, norm != "layer");
  }
}

TEST_P(DetectorRewrite, WhatTheyDoIsCounted) {
  const auto model = test::built_detector(GetParam());
  model->eval();
  EXPECT_GT(analysis::work_of(*model).operations, 1'000'000);
}

INSTANTIATE_TEST_SUITE_P(Models, DetectorRewrite, ::testing::ValuesIn(test::small_detectors()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cachet::deploy
