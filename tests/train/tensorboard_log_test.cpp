#include "cachet/train/tensorboard_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "cachet/io/read_file.h"
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
  return files;
}

std::vector<test::TensorBoardEvent> shown_events(const fs::path& run) {
  const std::vector<fs::path> files = event_files(run);
  EXPECT_EQ(files.size(), 1U);
  return test::read_tensorboard(io::read_text_file(files.at(0), 1 << 20));
}

/// Each event of metrics.jsonl has its record, in order, behind the three that begin a file.
void expect_shows_the_log(const fs::path& run) {
  const std::vector<Event> logged = read_events(run / "metrics.jsonl");
  const std::vector<test::TensorBoardEvent> shown = shown_events(run);
  ASSERT_EQ(shown.size(), logged.size() + 3);
  EXPECT_EQ(shown[0].file_version, "brain.Event:2");
  EXPECT_TRUE(shown[1].starts_session);
  EXPECT_NE(shown[2].texts.at("recipe").find("[optimizer]"), std::string::npos);
  for (size_t i = 0; i < logged.size(); ++i) {
    const auto& record = shown[i + 3];
    const std::string kind = logged[i].kind == Event::Kind::step ? "training/" : "evaluation/";
    EXPECT_EQ(record.step, logged[i].step);
    EXPECT_EQ(record.wall_time, logged[i].machine.find(kUnixTime).value());
    size_t count = 0;
    for (const auto& [name, value] : logged[i].metrics) {
      EXPECT_EQ(record.scalars.at(kind + name), static_cast<float>(value)) << name;
      ++count;
    }
    for (const Series& series : logged[i].series)
      for (size_t j = 0; j < series.values.size(); ++j, ++count)
        EXPECT_EQ(record.scalars.at(series.name + "/" + std::to_string(j)), static_cast<float>(series.values[j]));
    for (const auto& [name, value] : logged[i].machine)
      if (name != kUnixTime) count += record.scalars.contains("machine/" + name) ? 1U : 0U;
    EXPECT_EQ(record.scalars.size(), count);
  }
}

TEST(TensorBoardLog, ShowsWhatTheRunLogs) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run", {}, {"train.tensorboard=true"});
  expect_shows_the_log(folder / "run");
}

TEST(TensorBoardLog, DescribesEachMetricOnceAsItsTaskDoes) {
  const test::TemporaryDirectory folder;
  const fs::path run = folder / "run";
  test::train_toy(run, {}, {"train.tensorboard=true", "train.limit=6 steps"});
  test::train_toy(run, {}, {"train.tensorboard=true"});
  std::map<std::string, std::string> titles, descriptions;
  for (const auto& event : shown_events(run)) {
    for (const auto& [tag, title] : event.titles) EXPECT_TRUE(titles.emplace(tag, title).second) << tag << " again";
    descriptions.insert(event.descriptions.begin(), event.descriptions.end());
  }
  EXPECT_EQ(titles.at("evaluation/top1"), "evaluation/top-1");
  EXPECT_EQ(descriptions.at("evaluation/top1"), "higher is better");
  EXPECT_EQ(titles.at("training/grad_norm"), "training/gradient norm");
  EXPECT_FALSE(titles.contains("machine/seconds"));
}

TEST(TensorBoardLog, IsNotWrittenUnasked) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run");
  EXPECT_TRUE(event_files(folder / "run").empty());
}

// The step lines behind the checkpoint, and a torn record, are gone after the resume; no step comes twice.
TEST(TensorBoardLog, AResumedRunShowsEachStepOnce) {
  const test::TemporaryDirectory folder;
  const fs::path run = folder / "run";
  int64_t steps = 0;
  test::ToyHooks dies;
  dies.before_forward = [&](int64_t, int64_t) {
    if (++steps > 16) throw std::runtime_error("the power is gone");
  };
  EXPECT_THROW(test::train_toy(run, dies, {"train.tensorboard=true", "train.log_every=1 step"}), std::runtime_error);
  std::ofstream(event_files(run).at(0), std::ios::app | std::ios::binary) << "\x18";
  test::train_toy(run, {}, {"train.tensorboard=true", "train.log_every=1 step"});
  expect_shows_the_log(run);
  std::set<int64_t> seen;
  for (const auto& event : shown_events(run)) {
    const bool is_step = event.scalars.contains("training/loss");
    EXPECT_TRUE(!is_step || seen.insert(event.step).second) << event.step;
  }
  EXPECT_EQ(seen.size(), 12U);
}

TEST(TensorBoardLog, SwitchedOnLateShowsAllOfTheRun) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run", {}, {"train.limit=6 steps"});
  test::train_toy(folder / "run", {}, {"train.tensorboard=true"});
  expect_shows_the_log(folder / "run");
  EXPECT_EQ(shown_events(folder / "run").at(3).step, 2);
}

}  // namespace
}  // namespace cachet::train
