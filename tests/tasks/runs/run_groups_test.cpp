#include "cachet/tasks/runs/run_groups.h"

#include <gtest/gtest.h>

#include <string>

#include "cachet/tasks/runs/run_comparison.h"
#include "cachet/train/runs/resume_rules.h"
#include "tests/tasks/runs/synthetic_runs.h"

namespace cachet::tasks {
namespace {

TEST(RunGroups, AreRunsThatDifferInTheSeedAlone) {
  RunRecord other = test::synthetic_record("other", "0", {0.5});
  other.recipe["model.name"] = "\"pvt\"";
  const auto groups = grouped({test::synthetic_record("a", "0", {0.5}), other, test::synthetic_record("b", "1", {0.7}),
                               test::synthetic_record("again", "1", {0.7}), test::synthetic_record("c", "2", {0.6})});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].title(), "a (3 seeds)");
  EXPECT_EQ(groups[1].title(), "other");
  EXPECT_EQ(groups[2].name, "again") << "a seed that was run twice is no second seed";
}

// A run that is older than an option belongs to those that left it at its default.
TEST(RunGroups, AreNotTornByOptionsThatAreNewerThanARun) {
  RunRecord old = test::synthetic_record("old", "0", {0.5}), fresh = test::synthetic_record("fresh", "1", {0.7});
  fresh.recipe["train.device"] = "\"auto\"";
  fresh.default_keys = {"train.device"};
  EXPECT_EQ(grouped({old, fresh}).size(), 1U);
  EXPECT_EQ(grouped({fresh, old}).size(), 1U);
  fresh.default_keys.clear();
  EXPECT_EQ(grouped({old, fresh}).size(), 2U) << "somebody wrote it";
}

// A run that is older than a rule was made with the earlier one: it is not a seed of a run that has the new rule.
TEST(RunGroups, AreTornByARuleThatHasChangedSince) {
  RunRecord old = test::synthetic_record("old", "0", {0.5}), fresh = test::synthetic_record("fresh", "1", {0.7});
  for (RunRecord* run : {&old, &fresh}) run->recipe["schedule.kind"] = "\"arena\"";
  fresh.recipe["schedule.first_update"] = "0";
  fresh.default_keys = {"schedule.first_update"};
  EXPECT_EQ(grouped({old, fresh}).size(), 2U);
  EXPECT_EQ(grouped({fresh, old}).size(), 2U);
  fresh.recipe["schedule.first_update"] = "1";
  fresh.default_keys.clear();
  EXPECT_EQ(grouped({old, fresh}).size(), 1U);
}

TEST(RunGroups, AreNotTornByNamesThatAnOlderRunLacks) {
  RunRecord old = test::synthetic_record("old", "0", {0.5}), fresh = test::synthetic_record("fresh", "1", {0.7});
  fresh.recipe["data.class_names"] = "[\"cat\", \"dog\"]";
  EXPECT_EQ(grouped({old, fresh}).size(), 1U);
  EXPECT_EQ(grouped({fresh, old}).size(), 1U);
  old.recipe["data.class_names"] = "[\"cat\", \"eel\"]";
  EXPECT_EQ(grouped({old, fresh}).size(), 2U);
}

// The same parts of a step, spread otherwise, are the same experiment; another number of parts is another one.
TEST(RunGroups, HaveTheSamePartsOfAStep) {
  const auto record = [](const std::string& name, int64_t accumulate, int64_t batch_size, int64_t processes,
                         const std::string& state = "\"separate\"") {
    RunRecord run = test::synthetic_record(name, name, {0.5});
    run.recipe["train.state"] = state;
    run.recipe["train.accumulate"] = std::to_string(accumulate);
    run.recipe["train.batch_size"] = std::to_string(batch_size);
    run.processes = processes;
    return run;
  };
  EXPECT_EQ(grouped({record("0", 2, 20, 0), record("1", 1, 40, 2), record("2", 2, 20, 1)}).size(), 1U);
  const auto groups = grouped({record("0", 2, 20, 1), record("1", 2, 20, 2)});
  ASSERT_EQ(groups.size(), 2U) << "4 parts of 10 are no seed of 2 parts of 20";
  EXPECT_EQ(grouped({record("0", 2, 20, 1, "\"shared\""), record("1", 2, 20, 2, "\"shared\"")}).size(), 1U);
  const auto rows = compared(groups);
  const auto parts = [&](size_t row) {
    for (const auto& [key, value] : rows[row].recipe)
      if (key == train::kPartsOfStep) return value;
    return std::string();
  };
  EXPECT_EQ(parts(0) + " and " + parts(1), "2 and 4") << "a comparison says what differs";
}

TEST(RunGroups, TellRunsOfOneNameApart) {
  RunRecord first = test::synthetic_record("a", "0", {0.5}), second = first;
  second.path = "old/a";
  second.recipe["model.name"] = "\"pvt\"";
  const auto groups = grouped({first, second});
  EXPECT_EQ(groups[0].name, "runs/a");
  EXPECT_EQ(groups[1].name, "old/a");
}

TEST(RunGroups, AreNamedByAsManyFoldersAsItTakes) {
  const auto run_at = [](const std::string& path, const std::string& name, const char* model) {
    RunRecord run = test::synthetic_record(name, "0", {0.5});
    run.path = path;
    run.recipe["model.name"] = model;
    return run;
  };
  const auto groups = grouped(
      {run_at("/x/one/narrow/seed-0", "narrow/seed-0", "1"), run_at("/x/two/narrow/seed-0", "narrow/seed-0", "2"),
       run_at("/x/two/wide/seed-0", "wide/seed-0", "3"), run_at("/y/two/narrow/seed-0", "narrow/seed-0", "4")});
  std::vector<std::string> names;
  for (const RunGroup& group : groups) names.push_back(group.name);
  EXPECT_EQ(names, (std::vector<std::string>{"one/narrow/seed-0", "x/two/narrow/seed-0", "wide/seed-0",
                                             "y/two/narrow/seed-0"}));
}

TEST(RunGroups, CountTheRunsThatAreOver) {
  const auto names = [](const RunGroup& group) {
    std::string all;
    for (const RunRecord* run : group.counted()) all += run->name;
    return all;
  };
  auto groups = grouped({test::synthetic_record("a", "0", {0.5}), test::synthetic_record("b", "1", {0.7}, std::nullopt),
                         test::synthetic_record("c", "2", {0.6}, train::StopReason::early_stop),
                         test::synthetic_record("d", "3", {0.6}, train::StopReason::interrupted),
                         test::synthetic_record("e", "4", {0.6}, train::StopReason::out_of_time),
                         test::synthetic_record("f", "5", {}, train::StopReason::finished)});
  EXPECT_EQ(names(groups.at(0)), "ace");
  groups[0].missing = {7};
  EXPECT_NE(comparison_notes(groups).find("leave out seed 1 (running at step 10 of 30), 3 (interrupted at step 10 of "
                                          "30), 5 (not evaluated), 7 (not begun)."),
            std::string::npos)
      << comparison_notes(groups);
  groups = grouped(
      {test::synthetic_record("b", "1", {0.7}, std::nullopt), test::synthetic_record("d", "3", {}, std::nullopt)});
  EXPECT_EQ(names(groups.at(0)), "b") << "where none is over, what was evaluated";
  groups =
      grouped({test::synthetic_record("b", "1", {}, std::nullopt), test::synthetic_record("d", "3", {}, std::nullopt)});
  EXPECT_EQ(names(groups.at(0)), "bd") << "before the first evaluation, all";
  RunRecord old = test::synthetic_record("old", "0", {0.5});
  old.status.reset();
  EXPECT_TRUE(old.is_over()) << "a folder that does not tell";
}

}  // namespace
}  // namespace cachet::tasks
