#include "cachet/tasks/runs/cost_curves.h"

#include <gtest/gtest.h>

#include "cachet/tasks/runs/run_comparison.h"
#include "tests/tasks/runs/synthetic_runs.h"

namespace cachet::tasks {
namespace {

RunRecord costly_run(const std::string& model, const std::string& cache, int64_t macs, double accuracy) {
  RunRecord run = test::synthetic_record(model + "_" + cache, "0", {accuracy});
  run.recipe["model.name"] = "\"" + model + "\"";
  run.recipe["model.cache.kind"] = "\"" + cache + "\"";
  run.recipe["model.norm.kind"] = "\"layer\"";
  run.description.model = model;
  run.description.linear_convolution_macs = macs - 100;
  run.description.attention_macs = 100;
  return run;
}

TEST(CostCurves, JoinModelsOfOneFamilyWithTheSamePlugIns) {
  const auto groups = grouped(
      {costly_run("pvt_small", "none", 4'000'000'000, 0.8), costly_run("pvt_tiny", "none", 2'000'000'000, 0.75),
       costly_run("pvt_tiny", "grc", 2'150'000'000, 0.78), costly_run("pvt_v2_b2", "none", 3'900'000'000, 0.82)});
  const CostCurves cost = cost_curves(groups);
  EXPECT_EQ(cost.metric, "top-1");
  ASSERT_EQ(cost.curves.size(), 3u);
  EXPECT_EQ(cost.curves[0].name, "pvt");
  ASSERT_EQ(cost.curves[0].points.size(), 2u);
  EXPECT_EQ(cost.curves[0].points[0].run, "pvt_tiny_none") << "the cheapest first";
  EXPECT_DOUBLE_EQ(cost.curves[0].points[1].giga_macs, 4.0);
  EXPECT_DOUBLE_EQ(cost.curves[0].points[1].value, 0.8);
  EXPECT_EQ(cost.curves[1].name, "pvt, cache grc");
  EXPECT_EQ(cost.curves[2].name, "pvt_v2");
  const report::LineChart chart = cost_chart(cost);
  EXPECT_EQ(chart.series.size(), 3u);
  EXPECT_TRUE(chart.markers);
  EXPECT_EQ(cost_table(cost).rows.size(), 4u);
  EXPECT_EQ(comparison_page(groups, "Comparison").sections[1].title, "Cost");
}

TEST(CostCurves, NeedTwoCostsOfRunsThatAreOver) {
  const RunRecord tiny = costly_run("pvt_tiny", "none", 2'000'000'000, 0.75);
  RunRecord small = costly_run("pvt_small", "none", 4'000'000'000, 0.8);
  EXPECT_TRUE(cost_curves(grouped({tiny})).curves.empty());
  EXPECT_EQ(cost_curves(grouped({tiny, small})).curves.size(), 1u);
  RunRecord not_counted = small;
  not_counted.description.attention_macs = train::RunDescription::kNoMacs;
  EXPECT_TRUE(cost_curves(grouped({tiny, not_counted})).curves.empty());
  small.status->running = true;
  EXPECT_TRUE(cost_curves(grouped({tiny, small})).curves.empty());
}

TEST(CostCurves, FamiliesAreNamesWithoutSizes) {
  for (const auto& [model, family] :
       std::vector<std::pair<std::string, std::string>>{{"vit_small_patch16_224", "vit"},
                                                        {"pvt_v2_b2", "pvt_v2"},
                                                        {"t2t_vit_14", "t2t_vit"},
                                                        {"swin_tiny_patch4_window7_224", "swin"},
                                                        {"faster_rcnn_swin_t_fpn", "faster_rcnn_swin"},
                                                        {"vision_transformer", "vision_transformer"},
                                                        {"", ""}})
    EXPECT_EQ(model_family(model), family);
}

}  // namespace
}  // namespace cachet::tasks
