#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "tests/support/robustness.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

extern char** environ;  // NOLINT: POSIX declares it so

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using KillClock = std::chrono::steady_clock;

constexpr const char* kKilledRun = "CACHET_TEST_KILLED_RUN";
constexpr const char* kSlowStep = "CACHET_TEST_SLOW_STEP";
constexpr int64_t kSaveInterval = 2;
const std::vector<std::string> kKilledSettings{"train.epochs=15", "train.checkpoint_every=\"2 steps\"", "train.keep=2"};

/// A step that a first signal does not cut short.
void sleep_through_signals() {
  const KillClock::time_point end = KillClock::now() + std::chrono::seconds(30);
  while (KillClock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// What the spawned copies of this program run: the same command each time.
TEST(KilledRun, DISABLED_Trains) {
  const char* run = std::getenv(kKilledRun);
  ASSERT_NE(run, nullptr);
  test::ToyHooks hooks;
  if (std::getenv(kSlowStep) != nullptr) hooks.before_forward = [](int64_t, int64_t) { sleep_through_signals(); };
  test::train_toy(run, hooks, kKilledSettings);
}

class TrainingProcess {
 public:
  explicit TrainingProcess(const fs::path& run) {
    setenv(kKilledRun, run.c_str(), 1);
    char name[] = "train_tests", filter[] = "--gtest_filter=KilledRun.DISABLED_Trains",
         disabled[] = "--gtest_also_run_disabled_tests", brief[] = "--gtest_brief=1";
    char* arguments[] = {name, filter, disabled, brief, nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, arguments, environ) != 0) process_ = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  ~TrainingProcess() {
    if (process_ > 0) {
      kill();
      wait();
    }
  }

  bool started() const { return process_ > 0; }
  void kill() const { ::kill(process_, SIGKILL); }
  void signal(int number) const { ::kill(process_, number); }
  bool running() {
    if (process_ > 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
    return process_ > 0;
  }
  /// The exit code, or minus the signal that ended it.
  int wait() {
    if (process_ > 0) waitpid(process_, &status_, 0);
    process_ = -1;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }

 private:
  pid_t process_ = -1;
  int status_ = 0;
};

int64_t last_logged_step(const fs::path& run) {
  const std::vector<Event> events = read_events(run / "metrics.jsonl");
  return events.empty() ? 0 : events.back().step;
}

uintmax_t log_size(const fs::path& run) {
  std::error_code absent;
  const uintmax_t size = fs::file_size(run / "log.txt", absent);
  return absent ? 0 : size;
}

/// Kills the process at a random moment of the `seconds` after its first word.
bool kill_at_random(TrainingProcess& process, const fs::path& run, uintmax_t log_before, double seconds,
                    std::mt19937& chance) {
  while (process.running() && log_size(run) == log_before) std::this_thread::sleep_for(std::chrono::microseconds(200));
  const double delay = std::uniform_real_distribution<double>(0, seconds)(chance);
  std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  if (!process.running()) return false;
  process.kill();
  return process.wait() == -SIGKILL;
}

TEST(KillRobustness, AtAnyMomentTheSameCommandGoesOnBitByBit) {
  const test::TemporaryDirectory folder;
  const KillClock::time_point start = KillClock::now();
  test::train_toy(folder / "whole", {}, kKilledSettings);
  const double seconds = std::chrono::duration<double>(KillClock::now() - start).count();

  std::mt19937 chance(3);
  const int wanted = test::robustness_cases(200, /*share=*/0.03, /*least=*/6);
  int kills = 0, runs = 0;
  while (kills < wanted) {
    ASSERT_LT(runs, 20 * wanted) << "the runs end before they can be killed";
    const fs::path run = folder / ("run" + std::to_string(runs++));
    bool finished = false;
    while (!finished) {
      const uintmax_t log_before = log_size(run);
      TrainingProcess process(run);
      ASSERT_TRUE(process.started());
      // A third of the time a run takes, so that several kills fall into one.
      if (kills < wanted && kill_at_random(process, run, log_before, seconds / 3, chance)) {
        ++kills;
        const auto last = CheckpointStore(run / "checkpoints", "", 2).last();
        const int64_t saved = last ? read_checkpoint(*last).state.step : 0;
        EXPECT_LE(last_logged_step(run) - saved, kSaveInterval) << "more than one save interval was lost";
        continue;
      }
      EXPECT_EQ(process.wait(), 0);
      finished = true;
    }
    test::expect_same_runs(folder / "whole", run);
    ASSERT_FALSE(HasFailure()) << "after " << kills << " kills, run " << runs;
    fs::remove_all(run);
  }
  RecordProperty("kills", kills);
}

TEST(KillRobustness, ASecondInterruptLeavesAtOnce) {
  const test::TemporaryDirectory folder;
  setenv(kSlowStep, "1", 1);
  TrainingProcess process(folder / "run");
  unsetenv(kSlowStep);
  ASSERT_TRUE(process.started());
  while (process.running() && !fs::exists(folder / "run" / "metrics.jsonl")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(process.running()) << "the first one only asks";
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130);
}

}  // namespace
}  // namespace cachet::train
