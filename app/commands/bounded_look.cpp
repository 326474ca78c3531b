#include "app/commands/bounded_look.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "app/arguments/common_arguments.h"

namespace cachet::app {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(to, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

/// In the child: prints the digests, or nothing.
[[noreturn]] void say_digests(const tasks::RunRecord& run, int to) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, descriptor);
  try {
    const tasks::PresentDigest found = tasks::present_test_data(run);
    const data::DataDigest& digest = found.digest;
    write_all(to, nlohmann::json{{"fingerprint", found.fingerprint},
                                 {"contents", digest.contents},
                                 {"texts", digest.texts},
                                 {"files", digest.files},
                                 {"times", digest.times}}
                      .dump());
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

std::optional<tasks::PresentDigest> digests_in(const std::string& said) {
  try {
    const auto json = nlohmann::json::parse(said);
    return tasks::PresentDigest{{json.at("contents"), json.at("texts"), json.at("files"), json.at("times")},
                                json.at("fingerprint")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<tasks::PresentDigest> BoundedLook::operator()(const tasks::RunRecord& run) {
  constexpr milliseconds kShownAfter{1000}, kStep{100};
  if (left_ <= milliseconds::zero()) return std::nullopt;
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  std::cout.flush();
  const Clock::time_point begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) say_digests(run, ends[1]);
  close(ends[1]);
  std::string said;
  bool is_over = child < 0;
  {
    std::optional<report::Progress> progress;
    std::array<char, 4096> buffer{};
    while (!is_over && Clock::now() - begin < left_) {
      pollfd waiting{ends[0], POLLIN, 0};
      const int ready = poll(&waiting, 1, static_cast<int>(kStep.count()));
      if (ready > 0) {
        const ssize_t count = read(ends[0], buffer.data(), buffer.size());
        if (count > 0) said.append(buffer.data(), static_cast<size_t>(count));
        is_over = count == 0 || (count < 0 && errno != EINTR);
      }
      const auto passed = Clock::now() - begin;
      if (is_over || passed < kShownAfter) continue;
      if (!progress) progress.emplace(report::ProgressOptions{.mode = progress_mode(progress_)});
      report::ProgressState state;
      state.phase = "reading the test data of " + run.name;
      state.step = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
      state.steps = most_.count();
      state.run_done = static_cast<double>(state.step) / static_cast<double>(state.steps);
      progress->update(state);
    }
  }
  close(ends[0]);
  if (child > 0) {
    if (!is_over) kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  left_ -= std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
  if (!is_over)
    std::cerr << "the test data of " << run.name << " could not be read again within " << most_.count()
              << " seconds, so these data are not compared\n";
  return digests_in(said);
}

}  // namespace cachet::app
