#include "cachet/train/runs/event_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/train/checkpoints/manifest.h"
#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/runs/run_summary.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

Event logged(Event::Kind kind, int64_t step) {
  return {kind, step, 1, {{"loss", 0.1 * static_cast<double>(step)}}, {{"share", {0.5, 0.25}}}, {{"seconds", 3.0}}};
}

void write_events(const fs::path& path) {
  EventLog log(path);
  log.append(logged(Event::Kind::step, 2));
  log.append(logged(Event::Kind::step, 4));
  log.append(logged(Event::Kind::evaluation, 4));
  log.append(logged(Event::Kind::step, 6));
  log.sync();
}

TEST(EventLog, ReadsBackWhatWasWritten) {
  const test::TemporaryDirectory folder;
  write_events(folder / "m");
  const std::vector<Event> events = read_events(folder / "m");
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(to_json_line(events[2]), to_json_line(logged(Event::Kind::evaluation, 4)));
  EXPECT_TRUE(read_events(folder / "absent").empty());
}

TEST(EventLog, NumbersThatAreNotFiniteAreNull) {
  Event event = logged(Event::Kind::step, 1);
  event.metrics.set("loss", std::numeric_limits<double>::infinity());
  EXPECT_NE(to_json_line(event).find("\"loss\":null"), std::string::npos);
  const test::TemporaryDirectory folder;
  EventLog(folder / "m").append(event);
  EXPECT_TRUE(std::isnan(*read_events(folder / "m").at(0).metrics.find("loss")));
}

TEST(EventLog, IsCutBehindACheckpoint) {
  for (const auto& [step, evaluated, left] :
       {std::tuple{0, false, 0}, {2, true, 1}, {4, false, 2}, {4, true, 3}, {9, true, 4}}) {
    const test::TemporaryDirectory folder;
    write_events(folder / "m");
    std::ofstream(folder / "m", std::ios::app) << "{\"schema\":1,\"kind\":\"st";  // torn by a crash
    EXPECT_EQ(read_events(folder / "m").size(), 4U);
    EXPECT_GT(rewind_events(folder / "m", step, evaluated).bytes, 0U);
    EXPECT_EQ(read_events(folder / "m").size(), static_cast<size_t>(left));
    EXPECT_EQ(rewind_events(folder / "m", step, evaluated).bytes, 0U);
    EventLog(folder / "m").append(logged(Event::Kind::step, step + 1));
    EXPECT_EQ(read_events(folder / "m").size(), static_cast<size_t>(left) + 1);
  }
}

TEST(EventLog, ADamagedLineCostsItselfAlone) {
  for (const auto& damage :
       std::vector<std::string>{"\x01", "1e300", "-1", "9007199254740993", std::string(200'000, '[')}) {
    const test::TemporaryDirectory folder;
    write_events(folder / "m");
    std::string text = io::read_text_file(folder / "m", 1 << 20);
    const size_t second = text.find('\n') + 1, step = text.find("\"step\":", second) + 7;
    text.replace(step, 1, damage);
    std::ofstream(folder / "m", std::ios::binary | std::ios::trunc) << text;
    EXPECT_EQ(read_events(folder / "m").size(), 3U) << damage.substr(0, 20);
    const RewoundEvents rewound = rewind_events(folder / "m", 9, true);
    EXPECT_EQ(rewound.bytes, 0U);
    EXPECT_EQ(rewound.damaged_lines, 1);
    EXPECT_EQ(io::read_text_file(folder / "m", 1 << 20), text);
  }
}

TEST(EventLog, IsARegularFile) {
  const test::TemporaryDirectory folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "endless");
  for (const char* name : {"fifo", "endless"}) EXPECT_THROW(read_events(folder / name), io::Error) << name;
}

TEST(EventLog, TheSummaryHasALineForEachEvaluation) {
  const test::TemporaryDirectory folder;
  write_events(folder / "m");
  write_summary(folder / "s.csv", read_events(folder / "m"));
  std::ifstream file(folder / "s.csv", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "step,epoch,loss,train_loss,seconds\r\n4,1,0.4,0.4,3\r\n");
}

TEST(TrainState, KeepsEveryBit) {
  TrainState state;
  state.step = 123;
  state.best = 0.1 + 0.2;
  state.running = {{"loss", 1.0 / 3, 7}};
  state.running_norm = 5e-324;
  state.seed = std::numeric_limits<uint64_t>::max();
  const TrainState read = train_state_from_json(to_json(state));
  EXPECT_EQ(to_json(read), to_json(state));
  EXPECT_EQ(read.best, state.best);
  EXPECT_EQ(read.running.at(0).total, 1.0 / 3);
  EXPECT_EQ(read.running_norm, 5e-324);
  EXPECT_EQ(read.seed, state.seed);
  EXPECT_THROW(train_state_from_json("{"), std::runtime_error);
  EXPECT_THROW(train_state_from_json("{\"schema\":1}"), std::runtime_error);
  EXPECT_THROW(train_state_from_json("{\"schema\":2}"), std::runtime_error);
}

TEST(TrainState, LiesBetweenSteps) {
  std::string text = to_json(TrainState());
  const std::string field = "\"micro_batch\": 0";
  const size_t at = text.find(field);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, field.size(), "\"micro_batch\": 1");
  EXPECT_NE(test::thrown_message<io::Error>([&] { train_state_from_json(text); }).find("'micro_batch' is not 0"),
            std::string::npos);
}

TEST(Manifest, ShowsEveryChangedBit) {
  const std::string good = to_json(Manifest{"run", 5, {{"model.safetensors", {10, "abcd"}}}});
  EXPECT_EQ(to_json(manifest_from_json(good)), good);
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] ^= static_cast<char>(1 << bit);
      EXPECT_THROW(manifest_from_json(bad), std::runtime_error) << bad;
    }
  }
}

TEST(Manifest, RefusesNamesThatLeadOutOfTheFolder) {
  for (const char* name : {"../model", "/etc/passwd", "", ".hidden", "a/b", "manifest.json"}) {
    EXPECT_THROW(manifest_from_json(to_json(Manifest{"run", 5, {{name, {10, "abcd"}}}})), std::runtime_error) << name;
  }
}

}  // namespace
}  // namespace cachet::train
