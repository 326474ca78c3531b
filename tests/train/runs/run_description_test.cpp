#include "cachet/train/runs/run_description.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/io/files/read_file.h"
#include "cachet/train/runs/run_folder.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using report::Better, report::ValueForm;

/// No field has its default.
RunDescription whole_description() {
  return {
      "tides",
      {"gauge", "gauges", "gauges/s", "next year's"},
      "tide_net_\"9\"",
      (int64_t{1} << 60) + 1,  // more than a double counts
      1'234'567'890'123,
      77,
      {{"error", "mean error", ValueForm::fixed, Better::lower, /*decides=*/true, "metres"},
       {"hits", "hits", ValueForm::percent, Better::higher},
       {"waves", "waves", ValueForm::count, Better::neither, false, "a day", /*constant=*/true, /*condition=*/true}}};
}

void expect_same_metric(const report::MetricDescription& metric, const report::MetricDescription& other) {
  EXPECT_EQ(metric.name, other.name);
  EXPECT_EQ(metric.title, other.title);
  EXPECT_EQ(metric.form, other.form) << metric.name;
  EXPECT_EQ(metric.better, other.better) << metric.name;
  EXPECT_EQ(metric.decides, other.decides) << metric.name;
  EXPECT_EQ(metric.unit, other.unit) << metric.name;
  EXPECT_EQ(metric.constant, other.constant) << metric.name;
  EXPECT_EQ(metric.condition, other.condition) << metric.name;
}

void expect_same_description(const RunDescription& run, const RunDescription& other) {
  EXPECT_EQ(run.task, other.task);
  EXPECT_EQ(run.words.one, other.words.one);
  EXPECT_EQ(run.words.many, other.words.many);
  EXPECT_EQ(run.words.rate, other.words.rate);
  EXPECT_EQ(run.words.held_out, other.words.held_out);
  EXPECT_EQ(run.model, other.model);
  EXPECT_EQ(run.parameters, other.parameters);
  EXPECT_EQ(run.linear_convolution_macs, other.linear_convolution_macs);
  EXPECT_EQ(run.attention_macs, other.attention_macs);
  ASSERT_EQ(run.metrics.size(), other.metrics.size());
  for (size_t i = 0; i < run.metrics.size(); ++i) expect_same_metric(run.metrics[i], other.metrics[i]);
}

std::string run_json_text(const std::filesystem::path& run) { return io::read_text_file(run / "run.json", 1 << 20); }

TEST(RunDescription, IsReadAsItWasWritten) {
  const auto read = run_description_from_json(to_json(whole_description()));
  ASSERT_TRUE(read);
  expect_same_description(*read, whole_description());
}

TEST(RunDescription, EveryFormOfAMetricIsReadAsItWasWritten) {
  RunDescription run;
  for (const ValueForm form : {ValueForm::number, ValueForm::percent, ValueForm::fixed, ValueForm::whole,
                               ValueForm::count, ValueForm::rate, ValueForm::duration})
    run.metrics.push_back({std::string(report::to_string(form)), "title", form});
  const auto read = run_description_from_json(to_json(run));
  ASSERT_TRUE(read);
  expect_same_description(*read, run);
}

TEST(RunDescription, CountsOfAnotherRuleAreNotRead) {
  auto json = nlohmann::ordered_json::parse(to_json(whole_description()));
  json.at("model").at("macs").erase("rule");
  const auto earlier = run_description_from_json(json.dump());
  ASSERT_TRUE(earlier);
  EXPECT_FALSE(earlier->has_macs());
  EXPECT_TRUE(run_description_from_json(to_json(whole_description()))->has_macs());
  EXPECT_EQ(earlier->parameters, whole_description().parameters);
  // The description keeps this when it is written again.
  EXPECT_EQ(run_description_from_json(to_json(*earlier)), earlier);
}

TEST(RunDescription, ASplitOfWhichNothingWasEvaluatedIsReadAsItWasWritten) {
  RunDescription run = whole_description();
  run.split_size = 64;
  EXPECT_EQ(run_description_from_json(to_json(run)), run);
}

TEST(RunDescription, MissingFieldsHaveTheirDefaults) {
  const auto bare = run_description_from_json(R"({"task": "tides"})");
  ASSERT_TRUE(bare);
  RunDescription expected;
  expected.task = "tides";
  expect_same_description(*bare, expected);
  const auto hollow =
      run_description_from_json(R"({"task": "tides", "words": {}, "model": {}, "metrics": [{"name": "error"}]})");
  ASSERT_TRUE(hollow);
  expected.metrics = {{"error", "error"}};
  expect_same_description(*hollow, expected);
}

TEST(RunDescription, FieldsOfALaterVersionAreLeftAlone) {
  auto json = nlohmann::ordered_json::parse(to_json(whole_description()));
  json["weather"] = "rain";
  json["words"]["few"] = "gauge or two";
  json["metrics"][0]["form"] = "roman numerals";
  json["metrics"][0]["better"] = "rounder";
  const auto read = run_description_from_json(json.dump());
  ASSERT_TRUE(read);
  RunDescription expected = whole_description();
  expected.metrics[0].form = ValueForm::number;
  expected.metrics[0].better = Better::neither;
  expect_same_description(*read, expected);
}

TEST(RunDescription, GarbageIsNone) {
  for (const char* text :
       {"", "{", "[]", "null", "7", "\"tides\"", "{}", R"({"task": 7})", R"({"task": "tides", "words": 7})",
        R"({"task": "tides", "words": {"one": 1}})", R"({"task": "tides", "model": []})",
        R"({"task": "tides", "model": {"parameters": "many"}})", R"({"task": "tides", "model": {"macs": 7}})",
        R"({"task": "tides", "metrics": 7})", R"({"task": "tides", "metrics": [{}]})",
        R"({"task": "tides", "metrics": ["error"]})", R"({"task": "tides", "metrics": [{"name": null}]})",
        R"({"task": "tides", "metrics": [{"name": "error", "decides": "yes"}]})"})
    EXPECT_FALSE(run_description_from_json(text)) << text;
}

TEST(RunDescription, IsKeptByARunFolder) {
  const test::TemporaryDirectory folder;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  test::read_toy(document);
  {
    RunFolder made = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
    EXPECT_FALSE(made.description());
    made.describe(whole_description());
    ASSERT_TRUE(made.description());
  }
  const RunFolder opened = RunFolder::open(folder / "run");
  ASSERT_TRUE(opened.description());
  expect_same_description(*opened.description(), whole_description());
  EXPECT_EQ(opened.recipe_name(), "toy") << "what else run.json holds stays";
  EXPECT_TRUE(opened.default_keys().contains("train.device"));
  EXPECT_FALSE(opened.default_keys().contains("train.epochs"));

  // What a resume changes leaves it there.
  document.set("train.epochs=5");
  test::read_toy(document);
  RunFolder::resume(folder / "run", document, {});
  ASSERT_TRUE(RunFolder::open(folder / "run").description());
  expect_same_description(*RunFolder::open(folder / "run").description(), whole_description());
}

TEST(RunDescription, IsWrittenOnlyWhereItChanged) {
  const test::TemporaryDirectory folder;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  test::read_toy(document);
  RunFolder run = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
  RunDescription description = whole_description();
  run.describe(description);
  // A file that is gone shows who writes it anew.
  std::filesystem::remove(folder / "run" / "run.json");
  run.describe(description);
  EXPECT_FALSE(std::filesystem::exists(folder / "run" / "run.json"));
  description.metrics.back().title += " of all";
  run.describe(description);
  EXPECT_EQ(RunFolder::open(folder / "run").description()->metrics.back().title, description.metrics.back().title);
}

TEST(RunDescription, IsNoneOfAnOlderRunUntilItGoesOn) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path run = folder / "run";
  test::train_toy(run, {}, {"train.limit=\"2 steps\""});
  auto json = nlohmann::ordered_json::parse(run_json_text(run));
  ASSERT_EQ(json.erase("description"), 1U);
  ASSERT_EQ(json.erase("defaults"), 1U);
  std::ofstream(run / "run.json") << json.dump(2);
  EXPECT_FALSE(RunFolder::open(run).description());
  EXPECT_TRUE(RunFolder::open(run).default_keys().empty());

  json["description"] = {{"task", 7}};
  std::ofstream(run / "run.json") << json.dump(2);
  EXPECT_FALSE(RunFolder::open(run).description()) << "one that is damaged hides nothing else";

  test::train_toy(run, {}, {"train.limit=\"4 steps\""});
  ASSERT_TRUE(RunFolder::open(run).description());
  expect_same_description(*RunFolder::open(run).description(), test::ToyTask().describe());
}

}  // namespace
}  // namespace cachet::train
