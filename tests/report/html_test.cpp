#include "cachet/report/html.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/report/comparison.h"
#include "tests/report/made_up_run.h"
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
    run.curves = {{"Evaluation loss", "epoch", "", test::made_up_series("eval", 15, 1.1, 1.2 - top, 0.01, 1, seed)},
                  {"Evaluation accuracy", "epoch", "%", test::made_up_series("eval", 15, 60, 100 * top, 0.4, 1, seed)}};
    runs.push_back(std::move(run));
    ++seed;
  }
  return runs;
}

TEST(HtmlTest, AClassificationRunIsOneWholePage) {
  const std::string html = render_html(classification_page(test::made_up_run()));
  keep_page("run.html", html);
  EXPECT_EQ(test::markup_error(html), "");
  for (const char* part : {"Loss", "Accuracy", "Learning rate", "Gradient norm", "Throughput", "Waiting for data",
                           "σ(λ) per layer and head", "σ(λ) at the last step", "Steps on window statistics",
                           "Steps filtered", "Confusion matrix", "Wrong", "Right", "Recipe", "Environment"}) {
    EXPECT_NE(html.find(std::string("<figcaption>") + part + "</figcaption>"), std::string::npos) << part;
  }
  EXPECT_LT(html.size(), 1'500'000u);
}

TEST(HtmlTest, NothingIsFetched) {
  const std::string html = render_html(classification_page(test::made_up_run()));
  for (const char* reference : {"<link", "@import", "url(", "src=\"http", "href=\"http", "<script src"}) {
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
  }
}

TEST(HtmlTest, EveryTextIsEscaped) {
  const std::string evil = "</script><img src=x onerror=\"alert('&')\">\x01\xff";
  Page page{evil, evil, Status::failed, evil, {{evil, evil, evil}}, {}, evil};
  LineChart chart{evil, evil, evil, {{evil, {1, 2}, {1, 2}}, {evil, {1, 2}, {2, 1}}}, false, false, evil};
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
  const std::string html = render_html(classification_page(test::made_up_run()));
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
  EXPECT_EQ(count, 6u + 6u + 1u + 2u);  // curves, a panel for each layer, their means, window statistics
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
  ClassificationRun empty;
  empty.name = "just started";
  EXPECT_TRUE(classification_page(empty).sections.empty());
  Page page = classification_page(empty);
  page.sections.push_back({"Empty",
                           {LineChart{"empty", "x", "y", {}}, LineChart{"no values", "x", "y", {{"a", {}, {}}}},
                            SmallMultiples{}, HeatMap{}, ConfusionMatrix{}, ImageGrid{}, Table{}, CodeBlock{}}});
  const std::string html = render_html(page);
  keep_page("empty.html", html);
  EXPECT_EQ(test::markup_error(html), "");
  EXPECT_NE(html.find("no values yet"), std::string::npos);
}

TEST(HtmlTest, AFailedRunKeepsWhatItHas) {
  ClassificationRun run = test::made_up_run();
  run.status = Status::failed;
  run.status_detail =
      "The loss is nan at step 1204; the first tensor that is not finite is the gradient of "
      "blocks.3.attn.qkv.weight.\nThe last good checkpoint is checkpoints/last, of step 1173.";
  run.loss = {test::made_up_series("train", 60, 2.3, 0.28, 0.05, 20, 1)};
  run.loss[0].y.back() = INFINITY;
  const std::string html = render_html(classification_page(run));
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

}  // namespace
}  // namespace cachet::report
