#include "cachet/report/page/html.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/report/charts/axis.h"
#include "cachet/report/page/comparison_page.h"
#include "cachet/report/table.h"
#include "tests/report/synthetic_run.h"
#include "tests/report/well_formed.h"

namespace cachet::report {
namespace {

// Set CACHET_REPORT_DEMO to a folder to look at the pages.
void keep_page(const std::string& name, const std::string& html) {
  const char* folder = std::getenv("CACHET_REPORT_DEMO");
  if (folder == nullptr) return;
  std::filesystem::create_directories(folder);
  std::ofstream(std::filesystem::path(folder) / name) << html;
}

std::vector<ComparedRun> compared_runs() {
  std::vector<ComparedRun> runs;
  const std::vector<std::pair<const char*, double>> models = {
      {"plain", 0.861}, {"GRC + UN", 0.874}, {"GRC", 0.871}, {"FIFO", 0.858}};
  unsigned seed = 1;
  for (const auto& [name, top] : models) {
    ComparedRun run{
        name, {{"model.name", "\"vit_tiny\""}, {"model.cache.kind", std::string("\"") + name + "\""}}, {}, {}};
    if (seed > 1) run.recipe.push_back({"model.cache.ratio", "0.5"});
    run.metrics = {{"top-1", {format_percent(top), top}, Better::higher},
                   {"parameters", {format_count(2.6e6 + 1e5 * seed), 2.6e6 + 1e5 * seed}, Better::lower},
                   {"MACs", {format_count(45e6 + 1e6 * seed), 45e6 + 1e6 * seed}, Better::lower},
                   {"training img/s", {format_count(1500 - 60 * seed), 1500.0 - 60 * seed}, Better::higher}};
    run.curves = {
        {"Evaluation loss", "epoch", "", test::synthetic_series("eval", 15, 1.1, 1.2 - top, 0.01, 1, seed)},
        {"Evaluation accuracy", "epoch", "%", test::synthetic_series("eval", 15, 60, 100 * top, 0.4, 1, seed)}};
    runs.push_back(std::move(run));
    ++seed;
  }
  return runs;
}

TEST(HtmlTest, ARunIsOneWholePage) {
  const std::string html = render_html(run_page(test::synthetic_run()));
  keep_page("run.html", html);
  EXPECT_EQ(test::markup_error(html), "");
  for (const char* part : {"Loss", "Top-1", "Learning rate", "Gradient norm", "Throughput", "Waiting for data",
                           "σ(λ) per layer and head", "σ(λ) at the last step", "Steps on window statistics",
                           "Steps filtered", "Confusion matrix", "Wrong", "Right", "Recipe", "Environment"}) {
    EXPECT_NE(html.find(std::string("<figcaption>") + part + "</figcaption>"), std::string::npos) << part;
  }
  EXPECT_LT(html.size(), 1'500'000u);
}

TEST(HtmlTest, ResultsAndSamplesComeBeforeCurvesAndPlugInsAfterThem) {
  std::vector<std::string> titles;
  RunPage run = test::synthetic_run();
  run.folded_charts.assign(run.charts.begin() + 1, run.charts.end());
  run.charts.resize(1);
  const Page page = run_page(run);
  for (const Section& section : page.sections) titles.push_back(section.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"Predictions", "Training", "Caches", "Unified normalization",
                                              "Recipe and environment"}));
  const auto& fold = std::get<ChartFold>(page.sections[1].blocks.back());
  EXPECT_EQ(fold.charts.size(), 5u);
  EXPECT_EQ(fold.title, "More curves: top-1, learning rate, gradient norm, throughput, waiting for data");
}

TEST(HtmlTest, OnlyThePageOfARunningRunReadsItselfAgain) {
  Page page{"t", "", Status::running};
  page.written = "written 2026-11-29 20:15:03 UTC";
  const std::string running = render_html(page);
  EXPECT_EQ(test::markup_error(running), "");
  EXPECT_NE(running.find("http-equiv=\"refresh\""), std::string::npos);
  EXPECT_NE(running.find("<meta name=\"refresh-seconds\" content=\"20\"/>"), std::string::npos);
  EXPECT_NE(running.find("written 2026-11-29 20:15:03 UTC"), std::string::npos);
  for (const Status status : {Status::finished, Status::interrupted, Status::failed}) {
    page.status = status;
    EXPECT_EQ(render_html(page).find("http-equiv=\"refresh\""), std::string::npos);
    EXPECT_EQ(render_html(page).find("<meta name=\"refresh-seconds\""), std::string::npos);
  }
}

TEST(HtmlTest, NothingIsFetched) {
  const std::string html = render_html(run_page(test::synthetic_run()));
  for (const char* reference : {"<link", "@import", "url(", "src=\"http", "href=\"http", "<script src"}) {
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
  }
}

TEST(HtmlTest, EveryTextIsEscaped) {
  const std::string evil = "</script><img src=x onerror=\"alert('&')\">\x01\xff";
  Page page{evil, evil, Status::failed, evil, {{evil, evil, evil}}, {}, evil};
  LineChart chart{evil, evil, evil, {{evil, {1, 2}, {1, 2}}, {evil, {1, 2}, {2, 1}}}, false, false, false, evil};
  Section section{evil, {chart, SmallMultiples{evil, {chart}, true, evil}, CodeBlock{evil, evil}}, evil};
  section.blocks.push_back(HeatMap{evil, evil, evil, {evil}, {evil}, {1}, {}, {}, evil});
  section.blocks.push_back(ConfusionMatrix{evil, {evil, evil}, {1, 2, 3, 4}, evil});
  section.blocks.push_back(ImageGrid{evil, {{"", evil, evil, 0.5}, {"", evil, "other", NAN}}, evil});
  section.blocks.push_back(Table{evil, {{evil}}, {{evil}}, evil});
  page.sections.push_back(section);
  const std::string html = render_html(page);
  EXPECT_EQ(test::markup_error(html), "");
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
  EXPECT_NE(html.find("&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;\uFFFD\uFFFD"), std::string::npos);
}

TEST(HtmlTest, EmbeddedNumbersAreJson) {
  const std::string html = render_html(run_page(test::synthetic_run()));
  const std::string begin = "<script type=\"application/json\">";
  size_t count = 0, at = 0;
  while ((at = html.find(begin, at)) != std::string::npos) {
    at += begin.size();
    const auto data = nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
    EXPECT_FALSE(data.at("views").empty());
    for (const auto& series : data.at("series")) {
      EXPECT_EQ(series.at("x").size(), series.at("y").size());
      EXPECT_LE(series.at("x").size(), 900u);
    }
    ++count;
  }
  EXPECT_EQ(count, 6u + 6u + 2u + 2u);  // curves, a panel for each layer, their means and sizes, window statistics
}

TEST(HtmlTest, CurvesCanBeSmoothedAcrossNoGap) {
  Page page{"t", "", {}, "", {}, {{"s", {LineChart{"c", "x", "y", {{"a", {1, 2, 3, 4}, {1, NAN, 3, 4}}}}}, ""}}, ""};
  const std::string html = render_html(page);
  EXPECT_NE(html.find("\"smoothing\""), std::string::npos) << "the script makes the slider";
  EXPECT_NE(html.find("\"starts\":[1]"), std::string::npos) << "a line begins behind the value that is not finite";
  EXPECT_EQ(html.find("localStorage"), std::string::npos) << "a page keeps nothing";
}

TEST(HtmlTest, StatesAndEmptyPagesAreDrawn) {
  for (Status status : {Status::running, Status::finished, Status::interrupted, Status::failed}) {
    Page page;
    page.title = "run";
    page.status = status;
    page.status_detail = "the loss is nan at step 12";
    const std::string html = render_html(page);
    EXPECT_EQ(test::markup_error(html), "");
    EXPECT_NE(html.find("the loss is nan at step 12"), std::string::npos);
  }
  RunPage empty;
  empty.name = "just started";
  EXPECT_TRUE(run_page(empty).sections.empty());
  Page page = run_page(empty);
  page.sections.push_back({"Empty",
                           {LineChart{"empty", "x", "y", {}}, LineChart{"no values", "x", "y", {{"a", {}, {}}}},
                            SmallMultiples{}, HeatMap{}, ConfusionMatrix{}, ImageGrid{}, Table{}, CodeBlock{}}});
  const std::string html = render_html(page);
  keep_page("empty.html", html);
  EXPECT_EQ(test::markup_error(html), "");
  EXPECT_NE(html.find("no values yet"), std::string::npos);
}

TEST(HtmlTest, AFailedRunKeepsWhatItHas) {
  RunPage run = test::synthetic_run();
  run.status = Status::failed;
  run.status_detail =
      "The loss is nan at step 1204; the first tensor that is not finite is the gradient of "
      "blocks.3.attn.qkv.weight.\nThe last good checkpoint is checkpoints/last, of step 1173.";
  run.charts[0].series = {test::synthetic_series("train", 60, 2.3, 0.28, 0.05, 20, 1)};
  run.charts[0].series[0].y.back() = INFINITY;
  const std::string html = render_html(run_page(run));
  keep_page("failed.html", html);
  EXPECT_NE(html.find("One value is not finite (×)."), std::string::npos);
  EXPECT_NE(html.find("class=\"missing\""), std::string::npos);
}

TEST(ComparisonTest, BestOfEachMetricIsMarkedByItsDirection) {
  const auto runs = compared_runs();
  keep_page("compare.html", render_html(comparison_page(runs, "Fashion-MNIST: four memories")));
  const Table table = results_table(runs);
  ASSERT_EQ(table.columns.size(), 5u);
  EXPECT_EQ(table.columns[1].better, Better::higher);
  EXPECT_EQ(table.columns[2].better, Better::lower);
  EXPECT_EQ(table.rows[1][1].text, "87.4 %");
}

TEST(ComparisonTest, WhatIsNotRankedIsNeverTheBest) {
  auto runs = compared_runs();
  runs[1].ranked = false;
  runs[1].state = "running at step 50 of 160";
  const Table table = results_table(runs);
  EXPECT_EQ(table.columns[1].name, "state");
  EXPECT_EQ(table.rows[1][1].text, "running at step 50 of 160");
  EXPECT_EQ(table.rows[0][1].text, "–") << "what is no run has no state";
  const TableMarks marks(table);
  for (size_t column = 2; column < table.columns.size(); ++column) EXPECT_FALSE(marks.is_best(1, column)) << column;
  EXPECT_TRUE(marks.in_column(2)) << "the best of the others is marked";
}

TEST(ComparisonTest, OnlyDifferingKeysAreListed) {
  const Table table = differing_keys_table(compared_runs());
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0].text, "model.cache.kind");
  EXPECT_EQ(table.rows[1][0].text, "model.cache.ratio");
  EXPECT_EQ(table.rows[1][1].text, "–");  // the plain run has none
  EXPECT_EQ(table.rows[1][2].text, "0.5");
}

TEST(ComparisonTest, EqualRecipesSayso) {
  auto runs = compared_runs();
  for (ComparedRun& run : runs) run.recipe = {{"a", "1"}};
  EXPECT_TRUE(differing_keys_table(runs).rows.empty());
  EXPECT_EQ(differing_keys_table(runs).note, "The recipes are the same.");
  EXPECT_TRUE(differing_keys_table({}).rows.empty());
  runs.resize(1);
  EXPECT_EQ(differing_keys_table(runs).note, "") << "a recipe alone is like no other";
  for (const Section& section : comparison_page(runs, "t").sections) EXPECT_NE(section.title, "Recipes");
}

TEST(ComparisonTest, CurvesOfOneNameShareAChart) {
  auto runs = compared_runs();
  Page page = comparison_page(runs, "t");
  const auto& chart = std::get<LineChart>(page.sections.at(1).blocks.at(0));
  ASSERT_EQ(chart.series.size(), 4u);
  EXPECT_EQ(chart.series[1].name, "GRC + UN");
  runs[0].curves.push_back(runs[0].curves[0]);
  runs[0].curves.back().series.name = "ema";
  page = comparison_page(runs, "t");
  EXPECT_EQ(std::get<LineChart>(page.sections.at(1).blocks.at(0)).series[1].name, "plain · ema");
}

TEST(ComparisonTest, MissingMetricsAreDashes) {
  auto runs = compared_runs();
  runs[2].metrics.clear();
  const Table table = results_table(runs);
  EXPECT_EQ(table.rows[2][1].text, "–");
  EXPECT_TRUE(std::isnan(table.rows[2][1].value));
}

TEST(ComparisonTest, CurvesOfOneNameMayHaveSeveralSections) {
  auto runs = compared_runs();
  for (ComparedRun& run : runs) {
    run.curves.push_back(run.curves[0]);
    run.curves.back().section = "Over time";
    run.curves.back().x_label = "minutes";
  }
  const Page page = comparison_page(runs, "t");
  ASSERT_EQ(page.sections.size(), 4u);
  EXPECT_EQ(page.sections[3].title, "Recipes") << "behind the curves: the table may be long";
  EXPECT_EQ(page.sections[1].blocks.size(), 2u);
  EXPECT_EQ(page.sections[2].title, "Over time");
  EXPECT_EQ(std::get<LineChart>(page.sections[2].blocks.at(0)).x_label, "minutes");
}

LineChart banded_chart(double deviation) {
  return {"t", "step", "loss", {{"a", {1, 2, 3}, {2, 4, 3}, {deviation, deviation, deviation}}}};
}

std::string drawn_page(const LineChart& chart) {
  Page page{"t", "", {}, "", {}, {{"s", {chart}, ""}}, ""};
  return render_html(page);
}

TEST(BandTest, IsDrawnAroundTheCurveAndToldInTheNumbers) {
  const std::string html = drawn_page(banded_chart(0.5));
  EXPECT_EQ(test::markup_error(html), "");
  EXPECT_NE(html.find("class=\"band\""), std::string::npos);
  EXPECT_NE(html.find("\"deviation\":[0.5,0.5,0.5]"), std::string::npos);
  EXPECT_EQ(drawn_page(banded_chart(0)).find("class=\"band\""), std::string::npos) << "no band without a height";
  LineChart bare = banded_chart(0.5);
  bare.series[0].deviation.clear();
  EXPECT_EQ(drawn_page(bare).find("\"deviation\""), std::string::npos);
  bare.series[0].deviation = {0.5, NAN};  // shorter, and not finite
  EXPECT_EQ(test::markup_error(drawn_page(bare)), "");
}

TEST(BandTest, LiesInTheAxes) {
  const std::vector<DrawnSeries> series{drawn_series(banded_chart(1.5).series[0], 100)};
  const Axis linear = y_axis(series, false, false), logarithmic = y_axis(series, true, false);
  EXPECT_LE(linear.least, 0.5);
  EXPECT_GE(linear.most, 5.5);
  EXPECT_LE(logarithmic.least, 0.5);
  EXPECT_GE(logarithmic.most, 5.5);
  const std::vector<DrawnSeries> wide{drawn_series(banded_chart(3).series[0], 100)};
  EXPECT_GT(y_axis(wide, true, false).least, 0) << "a band that reaches zero is cut";
  EXPECT_EQ(test::markup_error(drawn_page(banded_chart(3))), "");
}

TEST(BandTest, SurvivesThinning) {
  Series many{"a", {}, {}, {}};
  for (int i = 0; i < 4000; ++i) {
    many.x.push_back(i);
    many.y.push_back(i % 2);
    many.deviation.push_back(0.25);
  }
  const DrawnSeries drawn = drawn_series(many, 100);
  for (const Point& point : drawn.points) EXPECT_EQ(point.deviation, 0.25);
}

// Set CACHET_REPORT_DEMO to look at it: eight groups, some with bands, one that ended early, one that diverged.
TEST(ComparisonTest, ManyGroupsWithBandsAreOnePage) {
  std::vector<ComparedRun> runs;
  const std::vector<std::pair<const char*, double>> groups = {
      {"cifar10_plain (5 seeds)", 0.652}, {"cifar10_cached (5 seeds)", 0.671}, {"cifar10_fifo (5 seeds)", 0.668},
      {"cifar10_bn (3 seeds)", 0.633},    {"cifar10_un (5 seeds)", 0.6525},    {"cifar10_un without filter", 0.41},
      {"cifar10_rms (5 seeds)", 0.655},   {"pvt_tiny_cifar10_cached", 0.702}};
  unsigned seed = 1;
  for (const auto& [name, top] : groups) {
    ComparedRun run{name, {{"model.norm.kind", "\"layer\""}, {"train.seed", std::to_string(seed)}}, {}, {}};
    run.metrics = {{"top-1", {format_percent(top) + " ± 0.4 %", top}, Better::higher},
                   {"best top-1", {format_percent(top + 0.01), top + 0.01}, Better::higher},
                   {"loss", {format_fixed(1.6 - top, 3), 1.6 - top}, Better::lower}};
    const int points = seed == 4 ? 9 : 16;
    Series accuracy = test::synthetic_series("", points, 0.3, top, 0.006, 500, seed);
    Series loss = test::synthetic_series("", points * 20, 2.3, 1.6 - top, 0.02, 25, seed);
    if (seed == 6) accuracy.y.back() = NAN;
    if (std::string(name).find("seeds") != std::string::npos) {
      for (size_t i = 0; i < accuracy.x.size(); ++i) accuracy.deviation.push_back(0.012);
      for (size_t i = 0; i < loss.x.size(); ++i) loss.deviation.push_back(0.05);
    }
    Series rate{"", {}, {}};
    for (int i = 0; i < 320; ++i) {
      rate.x.push_back(25 * i);
      rate.y.push_back(i < 20 ? 1e-3 * i / 20 : 5e-4 * (1 + std::cos(M_PI * (i - 20) / 300)));
    }
    run.curves = {{"Accuracy on the test images", "step", "top-1", accuracy, "Over the steps"},
                  {"Loss in training", "step", "loss", loss, "Over the steps"},
                  {"Learning rate", "step", "rate", rate, "Over the steps"}};
    run.label = run.name.substr(0, run.name.find(" ("));
    runs.push_back(std::move(run));
    ++seed;
  }
  const std::string html = render_html(comparison_page(runs, "CIFAR-10: eight models"));
  keep_page("compare_many.html", html);
  EXPECT_EQ(test::markup_error(html), "");
  runs.resize(3);
  const std::string three = render_html(comparison_page(runs, "CIFAR-10: three memories"));
  keep_page("compare_three.html", three);
  EXPECT_NE(three.find(">cifar10_cached</text>"), std::string::npos) << "a label beside the end of its curve";
  runs[0].label = "a name that no margin has room for";
  EXPECT_EQ(render_html(comparison_page(runs, "t")).find(">cifar10_cached</text>"), std::string::npos);
}

}  // namespace
}  // namespace cachet::report
