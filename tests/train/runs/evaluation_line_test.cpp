#include "cachet/train/runs/evaluation_line.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cachet::train {
namespace {

using report::Better, report::ValueForm;

RunDescription images() {
  RunDescription run;
  run.words = {"image", "images", "img/s", "validation"};
  run.metrics = {{.name = "top1",
                  .title = "top-1",
                  .form = ValueForm::percent,
                  .better = Better::higher,
                  .decides = true,
                  .share = true},
                 {"loss", "loss", ValueForm::fixed, Better::lower}};
  run.evaluated = 1840;
  return run;
}

EvaluationReport third_epoch() {
  EvaluationReport report{.place = {true, 3}, .places = 20};
  report.training = {{"loss", 0.9512}, {"top1", 0.7889}};
  report.evaluation = {{"loss", 0.7}, {"top1", 0.8123}, {"top1_stderr", 0.0091}};
  report.best = BestEvaluation{0.82041, {true, 2}, false};
  report.samples_per_second = 2810;
  report.seconds_left = 94;
  return report;
}

TEST(EvaluationLine, HasTheMetricOfTheTask) {
  EXPECT_EQ(report::fitted_line(evaluation_fields(images(), third_epoch())),
            "epoch 3/20  loss 0.951  train 78.9 %  |  validation 81.23 ± 0.91 % (best 82.04 % in epoch 2)  "
            "2.8k images/s  1m34s left");
  EXPECT_EQ(evaluation_result(images(), third_epoch().evaluation, third_epoch().best),
            "validation top-1 81.23 ± 0.91 % (best 82.04 % in epoch 2)");
}

TEST(EvaluationLine, StepsBeforeAResumeAreMissing) {
  EvaluationReport report = third_epoch();
  report.since_resume = true;
  EXPECT_TRUE(report::fitted_line(evaluation_fields(images(), report))
                  .starts_with("epoch 3/20  loss 0.951  train 78.9 %  (since the resume)  |  "));
  report.training = {};
  EXPECT_EQ(report::fitted_line(evaluation_fields(images(), report)).find("resume"), std::string::npos);
}

TEST(EvaluationLine, SkippedImagesDoNotCount) {
  RunDescription run = images();
  run.evaluated = 32;
  const Metrics few{{"top1", 0.0}, {"top1_stderr", 0.0}, {kSkippedSamples, 24}};
  RunDescription eight = run;
  eight.evaluated = 8;
  EXPECT_EQ(run.counted(few), 8);
  EXPECT_EQ(evaluation_result(run, few, std::nullopt),
            evaluation_result(eight, {{"top1", 0.0}, {"top1_stderr", 0.0}}, std::nullopt));
}

TEST(EvaluationLine, TheMetricIsTheLastToGo) {
  const auto fields = evaluation_fields(images(), third_epoch());
  EXPECT_EQ(report::fitted_line(fields, 20), "validation 81.23 ± 0.91 %");
  EXPECT_EQ(report::fitted_line(fields, 45), "epoch 3/20  |  validation 81.23 ± 0.91 %");
}

TEST(EvaluationLine, TheFirstOneAndTheBestOneAreNamed) {
  EvaluationReport report = third_epoch();
  report.best = BestEvaluation{0.8123, {false, 40}, true};
  report.place = {false, 40}, report.places = 40;
  report.training = {};
  report.samples_per_second = 0;
  report.seconds_left.reset();
  EXPECT_EQ(report::fitted_line(evaluation_fields(images(), report)),
            "step 40/40  |  validation 81.23 ± 0.91 % (best so far)");
  EXPECT_EQ(evaluation_result(images(), report.evaluation, report.best), "validation top-1 81.23 ± 0.91 % (the best)");
  report.best = BestEvaluation{0.9, {false, 20}, false};
  EXPECT_EQ(evaluation_result(images(), report.evaluation, report.best),
            "validation top-1 81.23 ± 0.91 % (best 90.00 % at step 20)");
}

TEST(EvaluationLine, OtherMetricsStandNextToTheOneThatDecides) {
  RunDescription run;
  run.words = {"image", "images", "img/s", "validation"};
  run.metrics = {
      {"box_ap", "box AP", ValueForm::fixed, Better::higher, /*decides=*/true},
      {"box_ap50", "box AP50", ValueForm::fixed, Better::higher},
      {.name = "mask_ap", .title = "mask AP", .form = ValueForm::fixed, .better = Better::higher, .headline = true}};
  EvaluationReport report{.place = {true, 1}, .places = 12};
  report.training = {{"loss", 1.25}};
  report.evaluation = {{"box_ap", 0.3812}, {"box_ap_stderr", 0.0118}, {"box_ap50", 0.5}, {"mask_ap", 0.3333}};
  report.samples_per_second = 3.42;
  report.seconds_left = 5000;
  EXPECT_EQ(report::fitted_line(evaluation_fields(run, report)),
            "epoch 1/12  loss 1.25  |  validation box AP 0.381 ± 0.012  mask AP 0.333  3.4 images/s  1h23m left");
  report.evaluation.set("mask_ap", NAN);
  report.tokens_per_second = 12'345;
  EXPECT_EQ(report::fitted_line(evaluation_fields(run, report)),
            "epoch 1/12  loss 1.25  |  validation box AP 0.381 ± 0.012  12k tokens/s  1h23m left");
}

TEST(EvaluationLine, WhatWasNotMeasuredIsSaid) {
  EvaluationReport report = third_epoch();
  report.evaluation = {{"top1", NAN}};
  report.best.reset();
  const std::string line = report::fitted_line(evaluation_fields(images(), report));
  EXPECT_NE(line.find("|  validation not measured  "), std::string::npos) << line;
  EXPECT_EQ(evaluation_result(images(), {}, std::nullopt), "");
}

}  // namespace
}  // namespace cachet::train
