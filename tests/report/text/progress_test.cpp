#include "cachet/report/text/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "cachet/report/text/progress_line.h"
#include "tests/report/pseudo_terminal.h"
#include "tests/report/screen.h"

namespace cachet::report {
namespace {

using namespace std::chrono_literals;

struct Pipe : test::Channel {
  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    outer = ends[0], inner = ends[1];
    start_reading();
  }
};

class ProgressTest : public ::testing::Test {
 private:
  test::EnvironmentVariable term_{"TERM", "xterm"}, locale_{"LC_ALL", "C.UTF-8"}, colour_{"NO_COLOR", nullptr},
      columns_{"COLUMNS", nullptr};
};

// Those that draw on a terminal. A container may have none to give: /dev/pts is not mounted everywhere.
class ProgressOnTerminalTest : public ProgressTest {
 protected:
  void SetUp() override {
    test::Channel channel;
    if (openpty(&channel.outer, &channel.inner, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "no pseudo-terminals";
  }
};

ProgressState a_state(int64_t step) {
  ProgressState state;
  state.epoch = 3, state.epochs = 15, state.step = step, state.steps = 391;
  state.run_done = (2 + step / 391.0) / 15;
  state.metrics = {{"loss", "0.5123"}, {"acc", "83.1 %"}};
  state.learning_rate = 9.8e-4, state.gradient_norm = 1.23;
  state.rate = 1310, state.data_wait = 0.02, state.memory_bytes = 1'288'490'188;
  return state;
}

TEST_F(ProgressOnTerminalTest, TheBarFitsEveryWidth) {
  for (int columns : {1, 5, 20, 80, 200}) {
    const test::Terminal terminal(columns);
    test::Screen screen(columns);
    Progress progress({ProgressMode::automatic, 10, terminal.inner});
    ASSERT_EQ(progress.mode(), ProgressMode::bar);
    progress.update(a_state(120));
    screen.feed(terminal.read_all());
    ASSERT_EQ(screen.rows().size(), 1u) << columns;
    EXPECT_LT(display_width(screen.rows()[0]), std::max(columns, 2));
  }
}

TEST_F(ProgressTest, WhereNobodyKnowsHowMuchThereIsStandsNoBar) {
  ProgressState state;
  state.phase = "eval";
  state.metrics = {{"tokens", "4736"}};
  EXPECT_EQ(bar_line(state, std::nullopt, {79, true, false}), "eval  tokens 4736");
  EXPECT_EQ(plain_line(state, std::nullopt), "eval, tokens 4736");
}

TEST_F(ProgressOnTerminalTest, ATimeLeftThatIsKnownIsShownInsteadOfTheEstimate) {
  test::Terminal terminal(120);
  test::Screen screen(120);
  Progress progress({ProgressMode::bar, 10, terminal.inner});
  ProgressState state = a_state(391);
  state.run_done = 0.5;
  state.seconds_left = 3600;
  progress.update(state);
  screen.feed(terminal.read_all());
  EXPECT_NE(screen.rows()[0].find("1h00m left"), std::string::npos) << screen.rows()[0];
}

TEST_F(ProgressTest, FieldsGoByImportance) {
  const std::string narrow = bar_line(a_state(120), 42.0, {79, true, false});
  EXPECT_NE(narrow.find("train 3/15"), std::string::npos);
  EXPECT_NE(narrow.find("120/391"), std::string::npos);
  EXPECT_NE(narrow.find("loss 0.5123"), std::string::npos);
  EXPECT_NE(narrow.find("42.0 s left"), std::string::npos);
  EXPECT_EQ(narrow.find("GiB"), std::string::npos);
  const std::string wide = bar_line(a_state(120), 42.0, {199, true, false});
  for (const char* field : {"acc 83.1 %", "lr 0.00098", "grad 1.23", "1.31 k img/s", "wait 2 %", "1.2 GiB"}) {
    EXPECT_NE(wide.find(field), std::string::npos) << field;
  }
  EXPECT_EQ(bar_line(a_state(120), 42.0, {199, false, false}).find("━"), std::string::npos);
  ProgressState greek = a_state(120);
  greek.metrics[0].title = "σ(λ)";
  for (int columns = 0; columns < 220; ++columns) {
    const std::string ascii = bar_line(greek, 42.0, {columns, false, false});
    EXPECT_LE(display_width(ascii), columns);
    EXPECT_TRUE(std::ranges::all_of(ascii, [](unsigned char c) { return c < 0x80; })) << ascii;
    EXPECT_LE(display_width(bar_line(a_state(120), 42.0, {columns, true, false})), columns);
  }
}

TEST_F(ProgressOnTerminalTest, ItIsRedrawnInPlaceAndLeftAtItsEnd) {
  const test::Terminal terminal(100);
  test::Screen screen(100);
  {
    Progress progress({ProgressMode::automatic, 10, terminal.inner});
    progress.update(a_state(1));
    std::this_thread::sleep_for(120ms);
    progress.update(a_state(200));
    progress.log("checkpoint saved");
    progress.update(a_state(391));
  }
  const std::string output = terminal.read_all();
  EXPECT_EQ(output.find("\033[?25l"), std::string::npos);  // a cursor that is never hidden needs no restoring
  screen.feed(output);
  const auto rows = screen.rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], "checkpoint saved");
  EXPECT_NE(rows[1].find("391/391"),
            std::string::npos);  // the last state, though it came too early to be drawn at once
  EXPECT_EQ(rows[2], "");
}

TEST_F(ProgressOnTerminalTest, AtMostTenUpdatesASecond) {
  const test::Terminal terminal(80);
  Progress progress({ProgressMode::automatic, 10, terminal.inner});
  const auto begin = std::chrono::steady_clock::now();
  size_t frames = 0;
  for (int64_t step = 1; std::chrono::steady_clock::now() - begin < 350ms; ++step) {
    progress.update(a_state(step % 391));
    frames += terminal.read_all().find("train 3/15") != std::string::npos;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(frames, 2u);
  EXPECT_LE(static_cast<double>(frames), seconds * 10 + 2);
}

TEST_F(ProgressOnTerminalTest, ANarrowedTerminalKeepsNoRemains) {
  test::Terminal terminal(120);
  test::Screen screen(120);
  Progress progress({ProgressMode::automatic, 10, terminal.inner});
  progress.log("above");
  progress.update(a_state(1));
  screen.feed(terminal.read_all());
  terminal.resize(40);
  screen.resize(40);
  ASSERT_GT(screen.rows().size(), 2u);  // the bar is broken
  std::this_thread::sleep_for(120ms);
  progress.update(a_state(2));
  screen.feed(terminal.read_all());
  ASSERT_EQ(screen.rows().size(), 2u);
  EXPECT_EQ(screen.rows()[0], "above");
  EXPECT_NE(screen.rows()[1].find("2/391"), std::string::npos);
}

TEST_F(ProgressTest, PlainLinesElsewhere) {
  const Pipe pipe;
  Progress progress({ProgressMode::automatic, 1000, pipe.inner});
  ASSERT_EQ(progress.mode(), ProgressMode::plain);
  for (int64_t step = 1; step <= 391; ++step) progress.update(a_state(step));
  progress.log("saved");
  ProgressState evaluation;
  evaluation.phase = "eval";
  evaluation.step = 7, evaluation.steps = 9;
  progress.update(evaluation);
  progress.finish();
  const std::string output = pipe.read_all();
  EXPECT_EQ(output.find('\033'), std::string::npos);
  EXPECT_EQ(output.find('\r'), std::string::npos);
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 4);  // first step, last step, log, end of evaluation
  EXPECT_NE(output.find("train epoch 3/15, step 391/391, loss 0.5123, acc 83.1 %"), std::string::npos);
  EXPECT_NE(output.find("\neval step 7/9"), std::string::npos);
}

TEST_F(ProgressOnTerminalTest, ADumbTerminalGetsPlainLines) {
  const test::EnvironmentVariable dumb("TERM", "dumb");
  const test::Terminal terminal(80);
  EXPECT_EQ(Progress({ProgressMode::automatic, 10, terminal.inner}).mode(), ProgressMode::plain);
}

TEST_F(ProgressTest, PlainLinesComeAtTheirInterval) {
  const Pipe pipe;
  Progress progress({ProgressMode::plain, 0.05, pipe.inner});
  progress.update(a_state(1));
  progress.update(a_state(2));
  std::this_thread::sleep_for(60ms);
  progress.update(a_state(3));
  const std::string output = pipe.read_all();
  EXPECT_NE(output.find("step 1/391"), std::string::npos);
  EXPECT_NE(output.find("step 3/391"), std::string::npos);
}

TEST_F(ProgressOnTerminalTest, NoneIsSilentButForLogLines) {
  const test::Terminal terminal(80);
  Progress progress({ProgressMode::none, 0, terminal.inner});
  progress.update(a_state(1));
  progress.log("a line");
  progress.finish();
  EXPECT_EQ(terminal.read_all(), "a line\r\n");
}

std::vector<LineField> results() {
  return {
      {"epoch 3/15", 2}, {"loss 0.51", 0}, {"validation 81.23 ± 0.91 %", 3, /*behind=*/true}, {"42 s left", 1, true}};
}

TEST_F(ProgressOnTerminalTest, APhaseEndsWithALineOfItsResultsThatFits) {
  for (const auto& [columns, expected] :
       {std::pair{100, "epoch 3/15  loss 0.51  |  validation 81.23 ± 0.91 %  42 s left"},
        std::pair{60, "epoch 3/15  |  validation 81.23 ± 0.91 %  42 s left"},
        std::pair{30, "validation 81.23 ± 0.91 %"}}) {
    const test::Terminal terminal(columns);
    test::Screen screen(columns);
    {
      Progress progress({ProgressMode::automatic, 10, terminal.inner});
      progress.update(a_state(120));
      progress.conclude(results());
    }
    screen.feed(terminal.read_all());
    const auto rows = screen.rows();
    ASSERT_EQ(rows.size(), 2U) << columns;
    EXPECT_EQ(rows[0], expected) << "the bar is gone";
    EXPECT_EQ(rows[1], "");
  }
}

TEST_F(ProgressTest, ResultsReplaceTheLastLineOfTheirPhaseInAPipe) {
  const Pipe pipe;
  Progress progress({ProgressMode::automatic, 1000, pipe.inner});
  progress.update(a_state(391));
  ProgressState evaluation;
  evaluation.phase = "eval";
  evaluation.is_concluded = true;
  evaluation.step = 9, evaluation.steps = 9;
  progress.update(evaluation);
  progress.conclude(results());
  progress.finish();
  const std::string output = pipe.read_all();
  EXPECT_TRUE(output.ends_with("\nepoch 3/15  loss 0.51  |  validation 81.23 ± 0.91 %  42 s left\n")) << output;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 2) << output;
}

TEST_F(ProgressTest, NoneShowsResults) {
  const Pipe pipe;
  Progress progress({ProgressMode::none, 0, pipe.inner});
  progress.conclude(results());
  progress.log("a line");
  EXPECT_EQ(pipe.read_all(), "epoch 3/15  loss 0.51  |  validation 81.23 ± 0.91 %  42 s left\na line\n");
}

TEST_F(ProgressTest, AClosedPipeIsSurvived) {
  Pipe pipe;
  close(pipe.outer);
  pipe.outer = -1;
  Progress progress({ProgressMode::plain, 0, pipe.inner});
  progress.update(a_state(1));  // SIGPIPE would end the test here
  progress.log("nobody listens");
  Progress nowhere({ProgressMode::bar, 0, -1});
  nowhere.update(a_state(1));
}

TEST_F(ProgressOnTerminalTest, NoColorIsRespected) {
  const test::EnvironmentVariable refusal("NO_COLOR", "1");
  const test::Terminal terminal(80);
  Progress progress({ProgressMode::automatic, 10, terminal.inner});
  progress.update(a_state(100));
  EXPECT_EQ(terminal.read_all().find("\033["), std::string::npos);
}

TEST_F(ProgressTest, ThreadsMayLogWhileTheBarMoves) {
  const Pipe pipe;
  Progress progress({ProgressMode::plain, 0, pipe.inner});
  std::thread logger([&] {
    for (int i = 0; i < 100; ++i) progress.log("log");
  });
  for (int64_t step = 1; step <= 100; ++step) progress.update(a_state(step));
  logger.join();
  const std::string output = pipe.read_all();
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 200);
}

}  // namespace
}  // namespace cachet::report
