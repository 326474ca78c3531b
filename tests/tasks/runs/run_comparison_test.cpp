#include "cachet/tasks/runs/run_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cachet/report/text/text_table.h"
#include "cachet/tasks/runs/data_of_runs.h"
#include "cachet/tasks/runs/differences.h"
#include "cachet/tasks/runs/group_curves.h"
#include "cachet/tasks/runs/paired_seeds.h"
#include "cachet/tasks/runs/settled_data.h"
#include "cachet/train/runs/seed_folder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/runs/synthetic_runs.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using train::Event;

TEST(Comparison, OfDifferentTasksHasTheMetricsOfBoth) {
  RunRecord language = test::synthetic_record("lm", "0", {});
  language.recipe["model.name"] = "\"xl\"";
  language.description = {};
  language.events = {{Event::Kind::evaluation, 10, 1, {{"perplexity", 20}}, {}, {}},
                     {Event::Kind::evaluation, 20, 1, {{"perplexity", 18}}, {}, {}}};
  const auto groups = grouped({test::synthetic_record("a", "0", {0.5, 0.6}), language});
  const report::Table table = report::results_table(compared(groups));
  std::string columns;
  for (const report::Column& column : table.columns) columns += column.name + "|";
  EXPECT_EQ(columns,
            "run|state|top-1|best top-1|loss|training top-1 (last step line)|parameters|MACs (evaluation)|attention "
            "MACs (evaluation)|training images/s|training time|perplexity|");
  EXPECT_EQ(table.rows[0].back().text, "–");
  EXPECT_EQ(table.rows[1].back().text, "18");
  EXPECT_EQ(comparison_notes(groups), "") << "no sentence on what they do not share";
  const auto curves = group_curves(groups);
  ASSERT_EQ(curves[1].size(), 2U) << "over the steps and over the time";
  EXPECT_EQ(curves[1][0].chart, "Perplexity in evaluation");
}

// A run that is older than a rule is shown with the value that it was made with, if its schedule is of the same kind.
TEST(Comparison, ShowsTheRulesOfOlderRuns) {
  RunRecord old = test::synthetic_record("old", "0", {0.5}), fresh = test::synthetic_record("fresh", "0", {0.7}),
            cosine = test::synthetic_record("cosine", "0", {0.6});
  for (RunRecord* run : {&old, &fresh}) run->recipe["schedule.kind"] = "\"one_cycle\"";
  cosine.recipe["schedule.kind"] = "\"cosine\"";
  fresh.recipe["schedule.rule"] = "\"pytorch\"";
  fresh.default_keys = {"schedule.rule"};
  const auto rows = compared(grouped({old, fresh, cosine}));
  ASSERT_EQ(rows.size(), 3U);
  const auto rule_of = [](const report::ComparedRun& row) {
    for (const auto& [key, value] : row.recipe)
      if (key == "schedule.rule") return value;
    return std::string();
  };
  EXPECT_EQ(rule_of(rows[0]), "\"0.1.0\"");
  EXPECT_EQ(rule_of(rows[1]), "\"pytorch\"");
  EXPECT_EQ(rule_of(rows[2]), "");
}

// Real runs in a folder of seeds, one of which has not begun, next to one of another recipe.
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
  EXPECT_EQ(groups[0].title(), "many (2 of 3 seeds)");
  EXPECT_EQ(groups[0].runs.at(1).name, "many/seed-1");
  EXPECT_EQ(groups[0].missing, (std::vector<uint64_t>{2}));
  EXPECT_EQ(groups[1].name, "plain");

  const std::vector<RunValue> cached = group_values(groups[0]), plain = group_values(groups[1]);
  EXPECT_EQ(shown(test::value_of(run_values(groups[0].runs[0]), "UN steps on window")).cell.text.substr(2), " of 24");
  EXPECT_NE(shown(test::value_of(cached, "UN filtered")).cell.text.find("in 5 layers"), std::string::npos);
  EXPECT_THROW(test::value_of(plain, "UN filtered"), std::out_of_range);
  EXPECT_NE(test::value_of(plain, "parameters").value, test::value_of(cached, "parameters").value);
  for (const char* name : {"top-1", "loss", "MACs", "training images/s", "training time"})
    EXPECT_TRUE(std::isfinite(test::value_of(plain, name).value)) << name;
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
  EXPECT_EQ(keys.columns[1].name, "many (2 of 3 seeds)");
  const auto seed_row = std::ranges::find_if(keys.rows, [](const auto& row) { return row[0].text == "train.seed"; });
  ASSERT_NE(seed_row, keys.rows.end());
  EXPECT_EQ((*seed_row)[1].text, "0, 1");

  // The runs in a folder, next to what is not a run and one that is damaged.
  fs::create_directory(folder / "broken");
  std::ofstream(folder / "broken" / "run.json") << "{";
  ASSERT_TRUE(fs::is_symlink(folder / "latest")) << "which names one of them";
  const ReadGroups inside = read_groups({folder / "."});
  ASSERT_EQ(inside.groups.size(), 2U);
  EXPECT_EQ(inside.groups[0].title(), "many (2 of 3 seeds)");
  EXPECT_EQ(inside.groups[1].title(), "plain");
  ASSERT_EQ(inside.unreadable.size(), 1U);
  EXPECT_NE(inside.unreadable[0].find("broken/run.json: damaged"), std::string::npos) << inside.unreadable[0];
  EXPECT_EQ(inside.unreadable[0].find('\n'), std::string::npos);
}

TEST(Comparison, LeavesRunsThatAreNotOverOutOfWhatIsBest) {
  RunRecord killed = test::synthetic_record("killed", "0", {0.9}, std::nullopt);
  killed.recipe["model.name"] = "\"pvt\"";
  RunRecord spoilt = test::synthetic_record("spoilt", "0", {}, train::StopReason::not_finite);
  spoilt.recipe["model.name"] = "\"swin\"";
  spoilt.status->message = "the loss is nan\nThe last good checkpoint is step 5";
  const auto groups = grouped({test::synthetic_record("a", "0", {0.5}), killed, spoilt, [] {
                                 RunRecord other = test::synthetic_record("b", "0", {0.6});
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
            "killed is running at step 10 of 30, and left out of the significance tests and of the best values. "
            "spoilt is not finite at step 10 of 30, and left out of the significance tests and of the best values: the "
            "loss is nan.");
}

TEST(Comparison, LeavesRunsThatWereMeasuredOnSomethingElseOutOfWhatIsBest) {
  const auto language_run = [](const std::string& name, double bits, std::optional<double> uncoded, double bytes) {
    RunRecord run = test::synthetic_record(name, "0", {});
    run.recipe["model.name"] = "\"" + name + "\"";
    run.description.metrics = {
        {"bits", "bits per byte", report::ValueForm::fixed, report::Better::lower, /*decides=*/true},
        {.name = "uncoded", .title = "text not coded", .form = report::ValueForm::percent, .condition = true},
        {.name = "bytes", .title = "bytes of the text", .form = report::ValueForm::whole, .condition = true}};
    train::Metrics metrics{{"bits", bits}, {"bits_stderr", 0.001}, {"bytes", bytes}};
    if (uncoded) metrics.set("uncoded", *uncoded);
    run.events = {{Event::Kind::evaluation, 10, 1, metrics, {}, {}}};
    return run;
  };
  const auto groups = grouped({language_run("all", 2.0, 0.0, 1200), language_run("half", 0.5, 0.5, 1200),
                               language_run("other", 1.0, 0.0, 1100), language_run("old", 1.0, std::nullopt, 1200),
                               language_run("same", 1.9, 0.0, 1200)});
  EXPECT_EQ(report::results_table(compared(groups)).unranked, (std::set<size_t>{1, 2}));
  const std::string left_out =
      " is left out of the significance tests and of the best values, because its measurement differs (";
  EXPECT_EQ(comparison_notes(groups),
            "old is 1.000 below all, more than twice the standard error of 0.001. "
            "same is 0.100 below all, more than twice the standard error of 0.001. " +
                std::string(kNotCorrected) + " half" + left_out + "text not coded: 0.0 % and 50.0 %). other" +
                left_out +
                "bytes of the text: 1200 and 1100). It is not known whether these runs have "
                "the same test data: old.");
}

// What the folders of runs record about their data.
TEST(Comparison, LeavesRunsOnOtherDataOutOfWhatIsBest) {
  const auto run_on = [](const std::string& name, double top1, train::RunFolder::SavedDigest digest, int64_t images) {
    RunRecord run = test::synthetic_record(name, "0", {top1});
    run.recipe["model.name"] = "\"" + name + "\"";
    run.data = {{"evaluation", std::move(digest)}};
    run.description.evaluated = run.description.split_size = images;
    run.description.task = "image_classification";
    return run;
  };
  const data::DataDigest one{"1111"}, other{"2222"};
  RunRecord moved = run_on("moved", 0.75, one, 100), task = run_on("task", 0.9, one, 100);
  std::get<data::DataDigest>(moved.data["evaluation"]).times = "3333";
  task.description.task = "sequence_classification";
  RunRecord nothing = run_on("nothing", 0.6, one, 0);
  nothing.data.clear();
  const auto groups =
      grouped({run_on("first", 0.7, one, 100), moved, run_on("data", 0.95, other, 100), run_on("fewer", 0.9, one, 10),
               task, run_on("older", 0.8, std::string("4444"), 100), nothing});
  EXPECT_EQ(report::results_table(compared(groups)).unranked, (std::set<size_t>{2, 3, 4}));
  const std::string left_out =
      " is left out of the significance tests and of the best values, because its measurement differs (";
  EXPECT_EQ(
      comparison_notes(groups),
      "moved is 5.0 points above first, more than twice the standard error of 1.4. "
      "older is 10.0 points above first, more than twice the standard error of 1.4. "
      "nothing is 10.0 points below first, more than twice the standard error of 1.4. " +
          std::string(kNotCorrected) + " data" + left_out + "the test data are not the same). fewer" + left_out +
          "test images: 100 and 10). task" + left_out +
          "task: image_classification and sequence_classification). It is not known whether these "
          "runs have the same test data: older, nothing. The image files of these runs have the same names and sizes, "
          "but different modification times: moved. It is not known whether the images are the same.");
  // A run that does not record how many samples it was evaluated on has no number to compare.
  const std::string unequal =
      comparison_notes(grouped({run_on("first", 0.7, one, 100), run_on("silent", 0.9, other, 0)}));
  EXPECT_EQ(unequal, "silent" + left_out + "the test data are not the same).");
  // Digests of version 0.1.0 are compared with each other.
  EXPECT_EQ(report::results_table(compared(grouped({run_on("a", 0.7, std::string("4444"), 100),
                                                    run_on("b", 0.8, std::string("4444"), 100),
                                                    run_on("c", 0.8, std::string("5555"), 100)})))
                .unranked,
            (std::set<size_t>{2}));
}

// A seed of a group was trained, or evaluated, on the same data as the others.
TEST(Comparison, GroupsRunsOnTheSameData) {
  const auto seed_on = [](const char* seed, const char* split, const char* digest) {
    RunRecord run = test::synthetic_record(std::string("run-") + seed, seed, {0.7});
    run.data = {{"training", data::DataDigest{"1111"}}, {"evaluation", data::DataDigest{"2222"}}};
    run.data[split] = data::DataDigest{digest};
    return run;
  };
  EXPECT_EQ(grouped({seed_on("0", "training", "1111"), seed_on("1", "training", "1111")}).size(), 1U);
  EXPECT_EQ(grouped({seed_on("0", "training", "1111"), seed_on("1", "training", "3333")}).size(), 2U);
  EXPECT_EQ(grouped({seed_on("0", "training", "1111"), seed_on("1", "evaluation", "3333")}).size(), 2U);
}

// Seeds of a group, too; a group that is not compared has no such note.
TEST(Comparison, SaysThatImageFilesMayHaveBeenReplaced) {
  const auto seed_on = [](const char* seed, const char* split, const char* times) {
    RunRecord run = test::synthetic_record(std::string("run-") + seed, seed, {0.7});
    for (const char* each : {"training", "evaluation"})
      run.data[each] = data::DataDigest{"1111", "", "2222", each == std::string(split) ? times : "3333"};
    return run;
  };
  const std::string note =
      "The image files of these runs have the same names and sizes, but different modification times: run-1. It is not "
      "known whether the images are the same.";
  for (const char* split : {"training", "evaluation"}) {
    const auto groups = grouped({seed_on("0", split, "3333"), seed_on("1", split, "4444")});
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_TRUE(comparison_notes(groups).ends_with(note)) << comparison_notes(groups);
  }
  EXPECT_EQ(comparison_notes(grouped({seed_on("0", "training", "3333"), seed_on("1", "training", "3333")}))
                .find("image files"),
            std::string::npos);
}

// The old digest of the data as they are now shows which of today's digests a run of 0.1.0 has.
TEST(Comparison, SettlesOldDigestsByThePresentData) {
  const auto run_on = [](const std::string& name, train::RunFolder::SavedDigest digest, const std::string& root) {
    RunRecord run = test::synthetic_record(name, "0", {0.7});
    run.recipe["data.root"] = root;
    run.recipe["model.name"] = name;
    run.data = {{"evaluation", std::move(digest)}};
    return run;
  };
  const data::DataDigest today{"1111"}, other{"2222"};
  std::vector<RunRecord> runs{run_on("new", today, "a"),
                              run_on("same", std::string("old-1"), "a"),
                              run_on("again", std::string("old-1"), "a"),
                              run_on("others", std::string("old-2"), "b"),
                              run_on("changed", std::string("old-3"), "a"),
                              run_on("absent", std::string("old-1"), "c")};
  std::vector<std::string> looked_at;
  settle_test_data(runs, [&](const RunRecord& run) -> std::optional<PresentDigest> {
    looked_at.push_back(run.name);
    if (run.recipe.at("data.root") == "a") return PresentDigest{today, "old-1"};
    if (run.recipe.at("data.root") == "b") return PresentDigest{other, "old-2"};
    return std::nullopt;
  });
  EXPECT_EQ(looked_at, (std::vector<std::string>{"same", "others", "absent"}));
  std::map<std::string, DataOfRuns> found;
  for (const RunRecord& run : runs) found[run.name] = compared_test_data(runs.front(), run);
  EXPECT_EQ(found, (std::map<std::string, DataOfRuns>{{"new", DataOfRuns::same},
                                                      {"same", DataOfRuns::same},
                                                      {"again", DataOfRuns::same},
                                                      {"others", DataOfRuns::other},
                                                      {"changed", DataOfRuns::unknown},
                                                      {"absent", DataOfRuns::unknown}}));
  // Old digests alone are compared with each other.
  std::vector<RunRecord> old{run_on("one", std::string("old-1"), "a"), run_on("two", std::string("old-1"), "a")};
  settle_test_data(old, [](const RunRecord&) -> std::optional<PresentDigest> {
    ADD_FAILURE() << "nothing needs to be settled";
    return std::nullopt;
  });
}

TEST(Comparison, LeavesGroupsWithFailedSeedsOutOfWhatIsBest) {
  std::vector<RunRecord> runs;
  for (const char* seed : {"0", "1", "2"}) {
    runs.push_back(test::synthetic_record(std::string("a") + seed, seed, {0.5}));
    runs.push_back(test::synthetic_record(std::string("b") + seed, seed, {0.9},
                                          *seed == '0' ? train::StopReason::finished : train::StopReason::not_finite));
    runs.back().recipe["model.name"] = "\"b\"";
  }
  const auto groups = grouped(runs);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].title(), "b0 (1 of 3 seeds)");
  EXPECT_EQ(groups[1].failed(), 2U);
  const report::Table results = report::results_table(compared(groups));
  EXPECT_EQ(results.unranked, (std::set<size_t>{1}));
  EXPECT_EQ(results.rows[0][1].text, "3 of 3 over");
  EXPECT_EQ(results.rows[1][1].text, "1 of 3 over, 2 failed");
  const report::Table seeds = seeds_table(groups);
  EXPECT_EQ(seeds.unranked, (std::set<size_t>{3, 4, 5})) << "nor is the seed that is over, as the group";
  EXPECT_EQ(report::text_table(seeds).find("*"), std::string::npos) << report::text_table(seeds);
  EXPECT_EQ(seeds.rows[4][2].text, "not finite at step 10 of 30");
  const std::string notes = comparison_notes(groups);
  EXPECT_NE(notes.find("b0 (1 of 3 seeds) is left out of the significance tests and of the best values, because 2 of "
                       "its 3 seeds failed."),
            std::string::npos)
      << notes;
  EXPECT_EQ(notes.find("above"), std::string::npos) << notes;
  EXPECT_TRUE(paired_seeds_table(groups).rows.empty());
}

TEST(Comparison, NamesWhatIsNotANumber) {
  std::vector<RunRecord> runs;
  for (const char* seed : {"0", "1", "2"}) {
    runs.push_back(test::synthetic_record(std::string("a") + seed, seed, {*seed == '1' ? NAN : 0.5, 0.4}));
    runs.push_back(test::synthetic_record(std::string("b") + seed, seed, {0.6, *seed == '2' ? NAN : 0.7}));
    runs.back().recipe["model.name"] = "\"b\"";
  }
  const auto groups = grouped(runs);
  EXPECT_EQ(test::value_of(group_values(groups[0]), "best top-1").value, 0.5);
  EXPECT_EQ(test::value_of(run_values(groups[0].runs[1]), "best top-1").value, 0.4) << "after one that is not a number";
  EXPECT_EQ(test::value_of(group_values(groups[1]), "best top-1").value, 0.7);
  EXPECT_TRUE(std::isnan(test::value_of(group_values(groups[1]), "top-1").value));
  const std::string notes = comparison_notes(groups);
  EXPECT_NE(notes.find("no verdict: top-1 of b0 (3 seeds) is not a number."), std::string::npos) << notes;
  EXPECT_NE(notes.find("The last top-1 is not a number in: b2."), std::string::npos) << notes;
  const report::Table table = report::results_table(compared(groups));
  EXPECT_EQ(report::text_table(table).find("nan*"), std::string::npos);
  EXPECT_TRUE(paired_seeds_table(groups).rows.empty()) << "two pairs are left";
}

TEST(PublishedTable, HasARowForEachRun) {
  const auto groups =
      grouped({test::synthetic_record("a", "0", {0.5}), test::synthetic_record("b", "1", {0.7}, std::nullopt)});
  EXPECT_EQ(
      report::csv_table(published_table(groups)),
      "run,recipe,seed,commit,device,date,state,step,top-1,best top-1,loss,training top-1,parameters,MACs,attention "
      "MACs,"
      "training images/s,training time,top-1 stderr\r\n"
      "a,tiny,0,abc,2 threads of a processor,2026-11-21T20:43:45Z,finished,10,0.5,0.5,0.5,0.25,1000,0,0,100,10,0.01\r\n"
      "b,tiny,1,abc,2 threads of a processor,2026-11-21T20:43:45Z,running,10,0.7,0.7,0.30000000000000004,0.25,1000,0,"
      "0,100,10,0.01\r\n");
}

}  // namespace
}  // namespace cachet::tasks
