#include "cachet/train/runs/tensorboard_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "cachet/io/files/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tensorboard_reader.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> event_files(const fs::path& run) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run))
    if (entry.path().filename().string().find("tfevents") != std::string::npos) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::vector<test::TensorBoardEvent> records_of(const fs::path& file) {
  return test::read_tensorboard(io::read_text_file(file, 1 << 20));
}

/// What a reader shows that has read all files by their names: the start of a session takes what comes at its step and
/// later.
std::vector<test::TensorBoardEvent> shown_events(const fs::path& run) {
  std::vector<test::TensorBoardEvent> shown;
  for (const fs::path& file : event_files(run)) {
    const std::vector<test::TensorBoardEvent> records = records_of(file);
    EXPECT_EQ(records.at(0).file_version, "brain.Event:2");
    EXPECT_TRUE(records.at(1).starts_session);
    for (const test::TensorBoardEvent& record : records) {
      if (record.starts_session)
        std::erase_if(shown, [&](const test::TensorBoardEvent& earlier) { return earlier.step >= record.step; });
      else if (record.file_version.empty())
        shown.push_back(record);
    }
  }
  return shown;
}

/// Each event of metrics.jsonl has its record, in order, after the recipe; no tag comes twice at a step.
void expect_shows_the_log(const fs::path& run) {
  const std::vector<Event> logged = read_events(run / "metrics.jsonl");
  const std::vector<test::TensorBoardEvent> shown = shown_events(run);
  ASSERT_EQ(shown.size(), logged.size() + 1);
  EXPECT_NE(shown[0].texts.at("recipe").find("[optimizer]"), std::string::npos);
  std::set<std::pair<std::string, int64_t>> seen;
  for (size_t i = 0; i < logged.size(); ++i) {
    const auto& record = shown[i + 1];
    const std::string kind = logged[i].kind == Event::Kind::step ? "training/" : "evaluation/";
    EXPECT_EQ(record.step, logged[i].step);
    EXPECT_EQ(record.wall_time, logged[i].machine.find(kUnixTime).value());
    std::map<std::string, double> values;
    for (const auto& [name, value] : logged[i].metrics) values[kind + name] = value;
    for (const Series& series : logged[i].series)
      for (size_t j = 0; j < series.values.size(); ++j)
        values[series.name + "/" + std::to_string(j)] = series.values[j];
    for (const auto& [name, value] : logged[i].machine)
      if (name != kUnixTime) values["machine/" + name] = value;
    std::erase_if(values, [&](const auto& value) { return !seen.emplace(value.first, logged[i].step).second; });
    EXPECT_EQ(record.scalars.size(), values.size());
    for (const auto& [tag, value] : values) EXPECT_EQ(record.scalars.at(tag), static_cast<float>(value)) << tag;
  }
}

TEST(TensorBoardLog, ShowsWhatTheRunLogs) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run", {}, {"train.tensorboard=true"});
  expect_shows_the_log(folder / "run");
}

TEST(TensorBoardLog, DescribesEachMetricOnceAFileAsItsTaskDoes) {
  const test::TemporaryDirectory folder;
  const fs::path run = folder / "run";
  test::train_toy(run, {}, {"train.tensorboard=true", "train.limit=6 steps"});
  test::train_toy(run, {}, {"train.tensorboard=true"});
  for (const fs::path& file : event_files(run)) {
    std::map<std::string, std::string> titles, descriptions;
    for (const auto& event : records_of(file)) {
      for (const auto& [tag, title] : event.titles) EXPECT_TRUE(titles.emplace(tag, title).second) << tag << " again";
      descriptions.insert(event.descriptions.begin(), event.descriptions.end());
    }
    EXPECT_EQ(titles.at("evaluation/top1"), "evaluation/top-1");
    EXPECT_EQ(descriptions.at("evaluation/top1"), "higher is better");
    EXPECT_EQ(titles.at("training/grad_norm"), "training/gradient norm");
    EXPECT_FALSE(titles.contains("machine/seconds"));
  }
}

TEST(TensorBoardLog, IsNotWrittenUnasked) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run");
  EXPECT_TRUE(event_files(folder / "run").empty());
}

/// Trains until a forward pass fails, as a process that dies leaves its run.
void train_until(const fs::path& run, int64_t passes) {
  int64_t steps = 0;
  test::ToyHooks dies;
  dies.before_forward = [&](int64_t, int64_t) {
    if (++steps > passes) throw std::runtime_error("the power is gone");
  };
  EXPECT_THROW(test::train_toy(run, dies, {"train.tensorboard=true", "train.log_every=1 step"}), std::runtime_error);
}

std::vector<int64_t> shown_steps(const fs::path& run) {
  std::vector<int64_t> steps;
  for (const auto& event : shown_events(run))
    if (event.scalars.contains("training/loss")) steps.push_back(event.step);
  return steps;
}

std::vector<int64_t> steps_to(int64_t last) {
  std::vector<int64_t> steps(static_cast<size_t>(last));
  std::iota(steps.begin(), steps.end(), int64_t{1});
  return steps;
}

// Step lines after the checkpoint, and a torn record, are in the file that a running TensorBoard reads.
TEST(TensorBoardLog, AResumedRunLeavesTheOldFileAndShowsEachStepOnce) {
  const test::TemporaryDirectory folder;
  const fs::path run = folder / "run";
  train_until(run, 16);
  const fs::path first = event_files(run).at(0);
  std::ofstream(first, std::ios::app | std::ios::binary) << "\x18";
  const std::string before = io::read_text_file(first, 1 << 20);
  test::train_toy(run, {}, {"train.tensorboard=true", "train.log_every=1 step"});
  EXPECT_EQ(event_files(run).size(), 2U);
  EXPECT_EQ(event_files(run).at(0), first);
  EXPECT_EQ(io::read_text_file(first, 1 << 20), before);
  expect_shows_the_log(run);
  EXPECT_EQ(shown_steps(run), steps_to(12));
  const auto records = records_of(event_files(run).at(1));
  EXPECT_GT(records.at(1).step, 0) << "the session starts at the step of the resume";
  EXPECT_LT(records.size(), records_of(first).size() + 2) << "and the file has no step before it";
  for (const auto& record : records) EXPECT_TRUE(record.step >= records.at(1).step || !record.file_version.empty());
}

TEST(TensorBoardLog, SeveralPartsWithinASecondAreInOrder) {
  const test::TemporaryDirectory folder;
  const fs::path run = folder / "run";
  for (const int64_t passes : {16, 6, 2, 6}) train_until(run, passes);
  test::train_toy(run, {}, {"train.tensorboard=true", "train.log_every=1 step"});
  EXPECT_EQ(event_files(run).size(), 5U);
  expect_shows_the_log(run);
  EXPECT_EQ(shown_steps(run), steps_to(12));
}

// As a clock leaves it that was set back.
TEST(TensorBoardLog, AFileFromTheFutureIsFollowedAllTheSame) {
  const test::TemporaryDirectory folder;
  const fs::path run = folder / "run";
  train_until(run, 16);
  fs::rename(event_files(run).at(0), run / "events.out.tfevents.9000000000.cachet");
  test::train_toy(run, {}, {"train.tensorboard=true", "train.log_every=1 step"});
  EXPECT_EQ(event_files(run).at(1).filename(), "events.out.tfevents.9000000001.cachet");
  expect_shows_the_log(run);
}

TEST(TensorBoardLog, AFileThatIsNotWholeIsReplacedByAllOfTheRun) {
  const auto shows_all_after = [](const std::function<void(const fs::path& file)>& damage) {
    const test::TemporaryDirectory folder;
    const fs::path run = folder / "run";
    train_until(run, 16);
    damage(event_files(run).at(0));
    test::train_toy(run, {}, {"train.tensorboard=true", "train.log_every=1 step"});
    expect_shows_the_log(run);
    EXPECT_EQ(records_of(event_files(run).back()).at(1).step, 0);
  };
  shows_all_after([](const fs::path& file) { fs::remove(file); });
  shows_all_after([](const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 3); });
}

TEST(TensorBoardLog, SwitchedOffInBetweenShowsAllOfTheRun) {
  const test::TemporaryDirectory folder;
  const fs::path run = folder / "run";
  test::train_toy(run, {}, {"train.tensorboard=true", "train.limit=4 steps", "train.log_every=1 step"});
  test::train_toy(run, {}, {"train.tensorboard=false", "train.limit=8 steps", "train.log_every=1 step"});
  test::train_toy(run, {}, {"train.tensorboard=true", "train.log_every=1 step"});
  expect_shows_the_log(run);
  EXPECT_EQ(shown_steps(run), steps_to(12));
}

TEST(TensorBoardLog, SwitchedOnLateShowsAllOfTheRun) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run", {}, {"train.limit=6 steps"});
  test::train_toy(folder / "run", {}, {"train.tensorboard=true"});
  expect_shows_the_log(folder / "run");
  EXPECT_EQ(shown_events(folder / "run").at(1).step, 2);
}

}  // namespace
}  // namespace cachet::train
