#include "cachet/tasks/runs/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cachet/report/text_table.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/runs/differences.h"
#include "cachet/tasks/runs/group_curves.h"
#include "cachet/tasks/runs/mean_curve.h"
#include "cachet/tasks/runs/paired_seeds.h"
#include "cachet/tasks/runs/run_values.h"
#include "cachet/train/run_status.h"
#include "cachet/train/seed_folder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using train::Event;

/// Evaluations at steps 10, 20, … with these accuracies, a step line at each, ten seconds apart.
std::vector<Event> made_up_events(const std::vector<double>& accuracies) {
  std::vector<Event> events;
  for (size_t i = 0; i < accuracies.size(); ++i) {
    const auto step = static_cast<int64_t>(10 * (i + 1));
    const double seconds = static_cast<double>(step);
    events.push_back({Event::Kind::step, step, 1, {{"loss", 2.0}, {"top1", 0.25}, {"lr", 0.1}}, {}, {}});
    events.back().machine = {{"seconds", seconds}, {"samples_per_second", 100}};
    events.push_back(
        {Event::Kind::evaluation, step, 1, {{"loss", 1 - accuracies[i]}, {"top1", accuracies[i]}}, {}, {}});
    events.back().metrics.set("top1_stderr", 0.01);
    events.back().machine = {{"seconds", seconds + 1}};
  }
  return events;
}

RunRecord made_up_record(const std::string& name, const std::string& seed, const std::vector<double>& accuracies,
                         std::optional<train::Ending> ending = train::Ending::finished) {
  RunRecord run;
  run.path = "runs/" + name;
  run.name = name;
  run.recipe_name = "tiny";
  run.recipe = {{"train.seed", seed}, {"model.name", "\"vit\""}};
  run.created = "2026-11-21T20:43:45Z";
  run.commit = "abc";
  run.device = "2 threads of a processor";
  run.status.emplace();
  run.status->running = !ending;
  run.status->ending = ending.value_or(train::Ending::finished);
  run.status->step = 10;
  run.status->total_steps = 30;
  run.events = made_up_events(accuracies);
  run.description.parameters = 1000;
  run.description.words = {"image", "images", "img/s", "test"};
  run.description.metrics = classification_metrics();
  return run;
}

const RunValue& value_of(const std::vector<RunValue>& values, const std::string& name) {
  for (const RunValue& value : values)
    if (value.name == name) return value;
  throw std::out_of_range(name);
}

TEST(RunGroups, AreRunsThatDifferInTheSeedAlone) {
  RunRecord other = made_up_record("other", "0", {0.5});
  other.recipe["model.name"] = "\"pvt\"";
  const auto groups = grouped({made_up_record("a", "0", {0.5}), other, made_up_record("b", "1", {0.7}),
                               made_up_record("again", "1", {0.7}), made_up_record("c", "2", {0.6})});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].title(), "a (3 seeds)");
  EXPECT_EQ(groups[1].title(), "other");
  EXPECT_EQ(groups[2].name, "again") << "a seed that was run twice is no second seed";
}

TEST(PairedSeeds, ShowWhatTheMeansHide) {
  std::vector<RunRecord> runs;
  const std::vector<double> plain{0.50, 0.60, 0.70};
  for (size_t seed = 0; seed < plain.size(); ++seed) {
    const std::string number = std::to_string(seed);
    runs.push_back(made_up_record("plain" + number, number, {plain[seed]}));
    // A point better with every seed, which spread over twenty.
    runs.push_back(
        made_up_record("cached" + number, number, {plain[seed] + 0.01 + 0.0001 * static_cast<double>(seed)}));
    runs.back().recipe["model.cache.kind"] = "\"grc\"";
    runs.push_back(made_up_record("noisy" + number, number, {plain[seed] + (seed == 1 ? 0.03 : -0.01)}));
    runs.back().recipe["model.cache.kind"] = "\"fifo\"";
  }
  const auto groups = grouped(runs);
  ASSERT_EQ(groups.size(), 3U);
  const report::Table table = paired_seeds_table(groups);
  ASSERT_EQ(table.rows.size(), 2U);
  const auto& cached = table.rows[0];
  EXPECT_EQ(cached[1].text, "plain0");
  EXPECT_EQ(cached[3].text, "3");
  EXPECT_EQ(cached[4].text, "+1.0");
  EXPECT_EQ(cached[5].text, "+1.0 to +1.0");
  EXPECT_EQ(cached[7].text, "") << "the seeds that there are decide";
  EXPECT_NEAR(cached[4].value, 0.0101, 1e-12);
  EXPECT_EQ(table.rows[1][4].text, "+0.3");
  EXPECT_EQ(table.rows[1][7].text, "379");
  const std::string page = report::text_table(table);
  EXPECT_NE(page.find("seeds to decide"), std::string::npos);

  runs.erase(runs.begin() + 4);  // two pairs are no evidence
  EXPECT_EQ(paired_seeds_table(grouped(runs)).rows.size(), 1U);
  runs.front().status->running = true;
  EXPECT_TRUE(paired_seeds_table({}).rows.empty());
}

// A run that is older than an option belongs to those that left it at its default.
TEST(RunGroups, AreNotTornByOptionsThatAreNewerThanARun) {
  RunRecord old = made_up_record("old", "0", {0.5}), fresh = made_up_record("fresh", "1", {0.7});
  fresh.recipe["train.device"] = "\"auto\"";
  fresh.default_keys = {"train.device"};
  EXPECT_EQ(grouped({old, fresh}).size(), 1U);
  EXPECT_EQ(grouped({fresh, old}).size(), 1U);
  fresh.default_keys.clear();
  EXPECT_EQ(grouped({old, fresh}).size(), 2U) << "somebody wrote it";
}

TEST(RunGroups, TellRunsOfOneNameApart) {
  RunRecord first = made_up_record("a", "0", {0.5}), second = first;
  second.path = "old/a";
  second.recipe["model.name"] = "\"pvt\"";
  const auto groups = grouped({first, second});
  EXPECT_EQ(groups[0].name, "runs/a");
  EXPECT_EQ(groups[1].name, "old/a");
}

TEST(RunGroups, CountTheRunsThatAreOver) {
  const auto names = [](const RunGroup& group) {
    std::string all;
    for (const RunRecord* run : group.counted()) all += run->name;
    return all;
  };
  auto groups = grouped({made_up_record("a", "0", {0.5}), made_up_record("b", "1", {0.7}, std::nullopt),
                         made_up_record("c", "2", {0.6}, train::Ending::early_stop),
                         made_up_record("d", "3", {0.6}, train::Ending::interrupted),
                         made_up_record("e", "4", {0.6}, train::Ending::out_of_time),
                         made_up_record("f", "5", {}, train::Ending::finished)});
  EXPECT_EQ(names(groups.at(0)), "ace");
  groups[0].missing = {7};
  EXPECT_NE(comparison_notes(groups).find("leave out seed 1 (running at step 10 of 30), 3 (interrupted at step 10 of "
                                          "30), 5 (not evaluated), 7 (not begun)."),
            std::string::npos)
      << comparison_notes(groups);
  groups = grouped({made_up_record("b", "1", {0.7}, std::nullopt), made_up_record("d", "3", {}, std::nullopt)});
  EXPECT_EQ(names(groups.at(0)), "b") << "where none is over, what was evaluated";
  groups = grouped({made_up_record("b", "1", {}, std::nullopt), made_up_record("d", "3", {}, std::nullopt)});
  EXPECT_EQ(names(groups.at(0)), "bd") << "before the first evaluation, all";
  RunRecord old = made_up_record("old", "0", {0.5});
  old.status.reset();
  EXPECT_TRUE(old.is_over()) << "a folder that does not tell";
}

TEST(RunValues, AreMeansAndBestsOverSeeds) {
  const auto groups = grouped({made_up_record("a", "0", {0.8, 0.7}), made_up_record("b", "1", {0.6, 0.9})});
  const std::vector<RunValue> alone = run_values(groups.at(0).runs[0]), all = group_values(groups[0]);
  EXPECT_EQ(value_of(alone, "top-1").value, 0.7);
  EXPECT_EQ(value_of(alone, "top-1").spread, 0.01);
  EXPECT_EQ(value_of(alone, "best top-1").value, 0.8);
  EXPECT_EQ(value_of(alone, "training top-1").value, 0.25);
  EXPECT_TRUE(value_of(alone, "top-1").decides);
  EXPECT_NEAR(value_of(all, "top-1").value, 0.8, 1e-12);
  EXPECT_NEAR(value_of(all, "top-1").spread, 0.2 / std::sqrt(2), 1e-12);
  EXPECT_EQ(value_of(all, "best top-1").value, 0.9);
  EXPECT_EQ(shown(value_of(all, "top-1")).cell.text, "80.0 % ± 14.1 %");
  EXPECT_EQ(shown(value_of(all, "parameters")).cell.text, "1.00 k") << "the same in every run";
  EXPECT_NEAR(value_of(all, "loss").value, 0.2, 1e-12);
}

TEST(RunValues, KnowNoBestOfWhatTheyDoNotKnow) {
  RunRecord run = made_up_record("a", "0", {});
  Event event{Event::Kind::evaluation, 3, 1, {{"bleu", 27.3}, {"chrf", 0.00012345}}, {}, {}};
  run.events = {event};
  const std::vector<RunValue> values = run_values(run);
  EXPECT_EQ(shown(value_of(values, "bleu")).cell.text, "27.3");
  EXPECT_EQ(shown(value_of(values, "chrf")).cell.text, "0.00012345");
  EXPECT_THROW(value_of(values, "best bleu"), std::out_of_range);
  run.events.front().metrics = {{"perplexity", 8}, {"loss", 2}};
  EXPECT_THROW(value_of(run_values(run), "best loss"), std::out_of_range) << "the loss decides where a task says so";
  run.description.metrics = {{"perplexity", "perplexity", report::ValueForm::number, report::Better::lower, true}};
  EXPECT_EQ(value_of(run_values(run), "best perplexity").value, 8);
  EXPECT_TRUE(value_of(run_values(run), "perplexity").decides);
}

TEST(Comparison, OfDifferentTasksHasTheMetricsOfBoth) {
  RunRecord language = made_up_record("lm", "0", {});
  language.recipe["model.name"] = "\"xl\"";
  language.description = {};
  language.events = {{Event::Kind::evaluation, 10, 1, {{"perplexity", 20}}, {}, {}},
                     {Event::Kind::evaluation, 20, 1, {{"perplexity", 18}}, {}, {}}};
  const auto groups = grouped({made_up_record("a", "0", {0.5, 0.6}), language});
  const report::Table table = report::results_table(compared(groups));
  std::string columns;
  for (const report::Column& column : table.columns) columns += column.name + "|";
  EXPECT_EQ(columns,
            "run|state|top-1|best top-1|loss|training top-1|parameters|MACs|attention MACs|training images/s|training "
            "time|perplexity|");
  EXPECT_EQ(table.rows[0].back().text, "–");
  EXPECT_EQ(table.rows[1].back().text, "18");
  EXPECT_EQ(comparison_notes(groups), "") << "no sentence on what they do not share";
  const auto curves = group_curves(groups);
  ASSERT_EQ(curves[1].size(), 2U) << "over the steps and over the time";
  EXPECT_EQ(curves[1][0].chart, "Perplexity in evaluation");
}

TEST(MeanCurve, EndsWithItsShortestRun) {
  const train::StepCurve longer{{10, 20, 30}, {1, 2, 3}, {0.5, 0.6, 0.9}}, shorter{{10, 20}, {3, 4}, {0.7, 0.6}},
      sparse{{20, 40}, {5, 9}, {0.9, 0.9}};
  const MeanCurve two = mean_curve({longer, shorter});
  EXPECT_EQ(two.mean.steps, (std::vector<double>{10, 20}));
  EXPECT_EQ(two.mean.seconds, (std::vector<double>{2, 3}));
  EXPECT_NEAR(two.mean.values[0], 0.6, 1e-12);
  EXPECT_NEAR(two.deviation[0], 0.2 / std::sqrt(2), 1e-12);
  EXPECT_NEAR(two.deviation[1], 0, 1e-12);
  EXPECT_EQ(mean_curve({longer, shorter, sparse}).mean.steps, (std::vector<double>{20}));
  EXPECT_TRUE(mean_curve({longer, {}}).mean.steps.empty());
  EXPECT_TRUE(mean_curve({}).mean.steps.empty());
  EXPECT_EQ(mean_curve({longer}).deviation, (std::vector<double>{0, 0, 0}));
}

TEST(MeanCurve, KeepsWhatIsNotFinite) {
  const MeanCurve mean = mean_curve({{{1}, {1}, {NAN}}, {{1}, {1}, {2}}});
  EXPECT_TRUE(std::isnan(mean.mean.values.at(0)));
}

TEST(GroupCurves, HaveBandsOfSeedsOverStepsAndTime) {
  RunRecord alone = made_up_record("alone", "0", {0.4, 0.5});
  alone.recipe["model.name"] = "\"pvt\"";
  const auto groups = grouped({made_up_record("a", "0", {0.6, 0.7, 0.8}), made_up_record("b", "1", {0.8, 0.9}), alone});
  const auto curves = group_curves(groups);
  ASSERT_EQ(curves.size(), 2U);
  const report::Curve &steps = curves[0].at(0), &loss = curves[0].at(1);
  EXPECT_EQ(steps.chart, "Top-1 on the test images");
  EXPECT_EQ(steps.x_label, "step");
  EXPECT_EQ(steps.series.x, (std::vector<double>{10, 20}));
  EXPECT_NEAR(steps.series.y[0], 0.7, 1e-12);
  EXPECT_NEAR(steps.series.deviation.at(1), 0.2 / std::sqrt(2), 1e-12);
  EXPECT_EQ(loss.chart, "Loss on the test images");
  EXPECT_TRUE(curves[1].at(0).series.deviation.empty()) << "a run alone has no band";
  const auto time = std::ranges::find(curves[0], "Over time", &report::Curve::section);
  ASSERT_NE(time, curves[0].end());
  EXPECT_EQ(time->x_label, "seconds of training");
  EXPECT_EQ(time->series.x, (std::vector<double>{11, 21}));
}

TEST(GroupCurves, AreNotDrawnOfWhatIsTheSameAtEachEvaluation) {
  RunRecord run = made_up_record("a", "0", {0.5, 0.6});
  ASSERT_EQ(run.description.metrics.front().name, "top1");
  const auto charts_of_accuracy = [&] {
    return std::ranges::count(group_curves(grouped({run})).at(0), "Top-1 on the test images", &report::Curve::chart);
  };
  EXPECT_GT(charts_of_accuracy(), 0);
  run.description.metrics.front().constant = true;
  EXPECT_EQ(charts_of_accuracy(), 0);
}

TEST(GroupCurves, ReadTheTimeOfOlderRunsFromTheirStepLines) {
  RunRecord run = made_up_record("a", "0", {0.5, 0.6});
  for (Event& event : run.events) {
    if (event.kind == Event::Kind::evaluation)
      event.machine = {};
    else
      event.machine.set("seconds", 3600.0 * static_cast<double>(event.step));
  }
  const auto curves = group_curves(grouped({run}));
  const auto time = std::ranges::find(curves[0], "Over time", &report::Curve::section);
  EXPECT_EQ(time->x_label, "hours of training");
  EXPECT_EQ(time->series.x, (std::vector<double>{10, 20}));
}

Contender contender(const std::string& name, double value, double spread, size_t seeds = 1) {
  RunValue top1 = metric_value(report::description_of(classification_metrics(), "top1"), value);
  top1.spread = spread;
  return {name, top1, seeds};
}

std::string sentences_of(const std::vector<Contender>& all) { return difference_sentences(differences(all)); }

TEST(Differences, OfRunsAreHeldToTheirStandardErrors) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01), contender("b", 0.85, 0.01), contender("c", 0.79, 0.01)}),
            "b is 5.0 points above a, more than twice the standard error of 1.4. "
            "c is 1.0 points below a, no more than twice the standard error of 1.4.");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01)}), "");
  EXPECT_EQ(sentences_of({contender("a", 0.8, NAN), contender("b", 0.85, 0.01)}), "");
  EXPECT_EQ(sentences_of({}), "");
}

// Bounds by scipy.stats.t.ppf(0.975, degrees): 4.303 for the 2.94 ≥ 2 whole degrees of the first, 2.306 for 8.
TEST(Differences, OfMeansAreHeldToTheSpreadBetweenSeeds) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 3), contender("b", 0.83, 0.02, 3)}),
            "b is 3.0 points above a, no more than seeds explain (± 5.6 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 5), contender("b", 0.78, 0.01, 5)}),
            "b is 2.0 points below a, more than seeds explain (± 1.5 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 200), contender("b", 0.81, 0.01, 200)}),
            "b is 1.0 points above a, more than seeds explain (± 0.2 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0, 2), contender("b", 0.8, 0, 2)}),
            "b is 0.0 points above a, no more than seeds explain (± 0.0 at 95 %).");
}

// 4.303 · 0.01 · √(4/3) = 0.0497: a run alone is one more seed, whichever of the two it is.
TEST(Differences, OfARunBesideSeedsAreHeldToOneMoreSeed) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 3), contender("b", 0.84, 0.001)}),
            "b is 4.0 points above a, no more than seeds explain (± 5.0 at 95 %).");
  EXPECT_EQ(sentences_of({contender("b", 0.86, NAN), contender("a", 0.8, 0.01, 3)}),
            "a is 6.0 points below b, more than seeds explain (± 5.0 at 95 %).");
}

TEST(Differences, OfManyRunsAreATable) {
  std::vector<RunRecord> runs;
  for (const auto& [name, top1] : {std::pair{"a", 0.5}, {"b", 0.6}, {"c", 0.49}, {"d", 0.4}, {"e", 0.5}}) {
    runs.push_back(made_up_record(name, "0", {top1}));
    runs.back().recipe["model.name"] = name;
  }
  const auto groups = grouped(runs);
  EXPECT_EQ(comparison_notes(groups), "");
  const report::Page page = comparison_page(groups, "");
  const auto& table = std::get<report::Table>(page.sections.front().blocks.at(1));
  EXPECT_EQ(table.title, "Beside a");
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0][1].text, "10.0 points above");
  EXPECT_EQ(table.rows[1][2].text, "no more than twice the standard error of 1.4");
}

TEST(PublishedTable, HasARowForEachRun) {
  const auto groups = grouped({made_up_record("a", "0", {0.5}), made_up_record("b", "1", {0.7}, std::nullopt)});
  EXPECT_EQ(
      report::csv_table(published_table(groups)),
      "run,recipe,seed,commit,device,date,state,step,top-1,best top-1,loss,training top-1,parameters,MACs,attention "
      "MACs,"
      "training images/s,training time,top-1 stderr\r\n"
      "a,tiny,0,abc,2 threads of a processor,2026-11-21T20:43:45Z,finished,10,0.5,0.5,0.5,0.25,1000,0,0,100,10,0.01\r\n"
      "b,tiny,1,abc,2 threads of a processor,2026-11-21T20:43:45Z,running,10,0.7,0.7,0.30000000000000004,0.25,1000,0,"
      "0,100,10,0.01\r\n");
}

// Real runs in a folder of seeds, one of which has not begun, beside one of another recipe.
TEST(Comparison, ReadsFoldersOfSeeds) {
  const test::TemporaryDirectory folder;
  test::write_tiny_images(folder / "images");
  const std::vector<std::string> settings{"train.limit=2 epochs"};
  {
    config::Document document = test::tiny_document(folder / "images", settings);
    read_recipe(document);
    train::SeedFolder::create(folder / "many", {"tiny", ""}, document, {}, {0, 1, 2});
  }
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { read_groups({folder / "many"}); }).find("--resume"),
            std::string::npos);
  for (const char* seed : {"0", "1"})
    test::train_tiny(folder / "images", folder / "many" / ("seed-" + std::string(seed)),
                     {settings[0], std::string("train.seed=") + seed});
  test::train_tiny(folder / "images", folder / "plain",
                   {settings[0], "model.cache.kind=none", "model.norm.kind=layer"});
  const auto groups = read_groups({folder / "many" / "", folder / "plain" / ".", folder / "many" / "seed-1"}).groups;
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "many");
  EXPECT_EQ(groups[0].title(), "many (2 seeds)");
  EXPECT_EQ(groups[0].runs.at(1).name, "many/seed-1");
  EXPECT_EQ(groups[0].missing, (std::vector<uint64_t>{2}));
  EXPECT_EQ(groups[1].name, "plain");

  const std::vector<RunValue> cached = group_values(groups[0]), plain = group_values(groups[1]);
  EXPECT_EQ(shown(value_of(run_values(groups[0].runs[0]), "UN steps on window")).cell.text.substr(2), " of 24");
  EXPECT_NE(shown(value_of(cached, "UN filtered")).cell.text.find("in 5 layers"), std::string::npos);
  EXPECT_THROW(value_of(plain, "UN filtered"), std::out_of_range);
  EXPECT_NE(value_of(plain, "parameters").value, value_of(cached, "parameters").value);
  for (const char* name : {"top-1", "loss", "MACs", "training images/s", "training time"})
    EXPECT_TRUE(std::isfinite(value_of(plain, name).value)) << name;
  const RunRecord& run = groups[1].runs[0];
  EXPECT_EQ(run.recipe_name, "tiny");
  EXPECT_EQ(run.seed(), "0");
  EXPECT_NE(run.device.find("1 thread of "), std::string::npos) << run.device;
  EXPECT_EQ(run.created.size(), 20U);
  EXPECT_TRUE(run.is_over());

  const report::Page page = comparison_page(groups, "t");
  const auto& seeds = std::get<report::Table>(page.sections.at(0).blocks.at(1));
  ASSERT_EQ(seeds.rows.size(), 3U);
  EXPECT_EQ(seeds.rows[0][2].text, "finished");
  EXPECT_EQ(seeds.rows[2][2].text, "not begun");
  ASSERT_EQ(page.sections.back().title, "Recipes");
  const auto& keys = std::get<report::Table>(page.sections.back().blocks.at(0));
  EXPECT_EQ(keys.columns[1].name, "many (2 seeds)");
  const auto seed_row = std::ranges::find_if(keys.rows, [](const auto& row) { return row[0].text == "train.seed"; });
  ASSERT_NE(seed_row, keys.rows.end());
  EXPECT_EQ((*seed_row)[1].text, "0, 1");

  // The runs in a folder, beside what is no run and one that is damaged.
  fs::create_directory(folder / "broken");
  std::ofstream(folder / "broken" / "run.json") << "{";
  ASSERT_TRUE(fs::is_symlink(folder / "latest")) << "which names one of them";
  const ReadGroups inside = read_groups({folder / "."});
  ASSERT_EQ(inside.groups.size(), 2U);
  EXPECT_EQ(inside.groups[0].title(), "many (2 seeds)");
  EXPECT_EQ(inside.groups[1].title(), "plain");
  ASSERT_EQ(inside.unreadable.size(), 1U);
  EXPECT_NE(inside.unreadable[0].find("broken/run.json: damaged"), std::string::npos) << inside.unreadable[0];
  EXPECT_EQ(inside.unreadable[0].find('\n'), std::string::npos);
}

TEST(Comparison, LeavesRunsThatAreNotOverOutOfWhatIsBest) {
  RunRecord killed = made_up_record("killed", "0", {0.9}, std::nullopt);
  killed.recipe["model.name"] = "\"pvt\"";
  RunRecord spoilt = made_up_record("spoilt", "0", {}, train::Ending::not_finite);
  spoilt.recipe["model.name"] = "\"swin\"";
  spoilt.status->message = "the loss is nan\nThe last good checkpoint is step 5";
  const auto groups = grouped({made_up_record("a", "0", {0.5}), killed, spoilt, [] {
                                 RunRecord other = made_up_record("b", "0", {0.6});
                                 other.recipe["model.name"] = "\"t2t\"";
                                 return other;
                               }()});
  ASSERT_EQ(groups.size(), 4U);
  const report::Table table = report::results_table(compared(groups));
  EXPECT_EQ(table.rows[0][1].text, "finished");
  EXPECT_EQ(table.rows[1][1].text, "running at step 10 of 30");
  EXPECT_EQ(table.rows[2][1].text, "not finite at step 10 of 30");
  EXPECT_EQ(table.unranked, (std::set<size_t>{1, 2}));
  EXPECT_EQ(comparison_notes(groups),
            "b is 10.0 points above a, more than twice the standard error of 1.4. "
            "killed is running at step 10 of 30, and left out of tests and of what is best. "
            "spoilt is not finite at step 10 of 30, and left out of tests and of what is best: the loss is nan");
}

}  // namespace
}  // namespace cachet::tasks
