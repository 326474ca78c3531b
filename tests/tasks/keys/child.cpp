#include "tests/tasks/keys/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>

namespace cachet::test {
namespace {

using ChildClock = std::chrono::steady_clock;

constexpr int kReturned = 77;                          // the exit code of a call that returned
constexpr std::chrono::milliseconds kBetweenLooks{4};  // at the memory of the child
constexpr size_t kMaxPrinted = 4'000;

struct ChildPipe {
  int read = -1, write = -1;
  ChildPipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
    read = ends[0], write = ends[1];
  }
  ChildPipe(const ChildPipe&) = delete;
  ChildPipe& operator=(const ChildPipe&) = delete;
  ~ChildPipe() {
    close(read);
    close_write();
  }
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

int64_t resident_bytes_of(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Appends what is there; false at the end of the stream.
bool read_some(int from, std::string& text) {
  std::array<char, 4096> bytes{};
  const ssize_t count = read(from, bytes.data(), bytes.size());
  if (count > 0) text.append(bytes.data(), static_cast<size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

void write_all(int to, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(to, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

[[noreturn]] void be_child(const std::function<std::string()>& work, const ChildLimits& limits, ChildPipe& answer,
                           ChildPipe& printed) {
  dup2(printed.write, STDOUT_FILENO);
  dup2(printed.write, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto seconds = static_cast<rlim_t>(limits.processor_time.count());
  const rlimit time{seconds, seconds};
  setrlimit(RLIMIT_CPU, &time);
  write_all(answer.write, work());
  _exit(kReturned);
}

}  // namespace

ChildOutcome in_child(const std::function<std::string()>& work, const ChildLimits& limits) {
  ChildPipe answer, printed;
  const int64_t before = resident_bytes_of(getpid());
  const ChildClock::time_point end = ChildClock::now() + limits.time;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process can be made");
  if (child == 0) be_child(work, limits, answer, printed);
  answer.close_write();
  printed.close_write();

  ChildOutcome outcome;
  std::array<pollfd, 2> streams{pollfd{answer.read, POLLIN, 0}, pollfd{printed.read, POLLIN, 0}};
  std::array<std::string*, 2> texts{&outcome.text, &outcome.printed};
  bool killed = false;
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    poll(streams.data(), streams.size(), static_cast<int>(kBetweenLooks.count()));
    for (size_t i = 0; i < streams.size(); ++i)
      if (streams[i].revents != 0 && !read_some(streams[i].fd, *texts[i])) streams[i].fd = -1;
    if (outcome.printed.size() > kMaxPrinted) outcome.printed.resize(kMaxPrinted);
    if (killed) continue;
    const bool large = resident_bytes_of(child) > before + limits.bytes, slow = ChildClock::now() > end;
    if (!large && !slow) continue;
    outcome.end = large ? ChildOutcome::End::too_large : ChildOutcome::End::too_slow;
    kill(child, SIGKILL);
    killed = true;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (killed || (WIFEXITED(status) && WEXITSTATUS(status) == kReturned)) return outcome;
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
    outcome.end = ChildOutcome::End::too_slow;
    return outcome;
  }
  outcome.end = ChildOutcome::End::crashed;
  if (WIFSIGNALED(status))
    outcome.ending =
        "signal " + std::to_string(WTERMSIG(status)) + " (" + std::string(strsignal(WTERMSIG(status))) + ")";
  else
    outcome.ending = "exit code " + std::to_string(WEXITSTATUS(status));
  return outcome;
}

}  // namespace cachet::test
