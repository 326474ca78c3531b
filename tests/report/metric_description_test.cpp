#include "cachet/report/metric_description.h"

#include <gtest/gtest.h>

namespace cachet::report {
namespace {

TEST(MetricDescription, OfAMetricThatNobodyDescribedIsItsName) {
  const std::vector<MetricDescription> all{{"top1", "top-1", ValueForm::percent, Better::higher, true}};
  EXPECT_EQ(description_of(all, "top1").title, "top-1");
  EXPECT_EQ(heading(description_of(all, "top1")), "Top-1");
  EXPECT_EQ(heading(description_of(all, "loss_rpn_cls")), "loss_rpn_cls");
  const MetricDescription unknown = description_of(all, "chrf");
  EXPECT_EQ(unknown.title, "chrf");
  EXPECT_EQ(unknown.better, Better::neither);
  EXPECT_FALSE(unknown.decides);
  EXPECT_EQ(format_value(unknown.form, 0.00012345), "0.00012345");
}

TEST(MetricDescription, NothingDecidesUnlessATaskSaysSo) {
  EXPECT_EQ(deciding({{"loss", "loss", ValueForm::fixed, Better::lower}}), nullptr);
  const std::vector<MetricDescription> all{{"loss", "loss"}, {"bleu", "BLEU", ValueForm::number, Better::higher, true}};
  EXPECT_EQ(deciding(all)->name, "bleu");
}

TEST(MetricDescription, EveryFormAndDirectionSurvivesItsWord) {
  for (const ValueForm form : {ValueForm::number, ValueForm::percent, ValueForm::fixed, ValueForm::whole,
                               ValueForm::count, ValueForm::rate, ValueForm::duration})
    EXPECT_EQ(form_from(to_string(form)), form);
  for (const Better better : {Better::neither, Better::higher, Better::lower})
    EXPECT_EQ(better_from(to_string(better)), better);
  EXPECT_EQ(form_from("furlongs"), ValueForm::number) << "of a newer program";
  EXPECT_EQ(better_from(""), Better::neither);
}

TEST(MetricDescription, EachFormIsWrittenInItsOwnWay) {
  EXPECT_EQ(format_value(ValueForm::percent, 0.8741), "87.4 %");
  EXPECT_EQ(format_value(ValueForm::fixed, 0.51234), "0.512");
  EXPECT_EQ(format_value(ValueForm::whole, 20.4), "20");
  EXPECT_EQ(format_value(ValueForm::count, 22'100'000), "22.1 M");
  EXPECT_EQ(format_value(ValueForm::rate, 1234.4), "1234");
  EXPECT_EQ(format_value(ValueForm::duration, 65), "1m05s");
  EXPECT_EQ(format_value(ValueForm::number, 27.3), "27.3");
}

TEST(MetricDescription, AUnitStandsBehindTheNumber) {
  MetricDescription metric{"error", "mean error", ValueForm::fixed, Better::lower, true, "pixels"};
  EXPECT_EQ(format_value(metric, 2.31049), "2.310 pixels");
  metric.unit.clear();
  EXPECT_EQ(format_value(metric, 2.31049), "2.310");
}

}  // namespace
}  // namespace cachet::report
