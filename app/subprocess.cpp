#include "app/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "cachet/report/program_name.h"

extern char** environ;

namespace cachet::app {
namespace {

[[noreturn]] void fail(const char* what, int error) {
  throw std::runtime_error(std::string("cannot start a process of its own: ") + what + ": " + std::strerror(error));
}

// Closed on exec, but for the copy that the child gets.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe", errno);
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reading() const { return ends[0]; }
  int writing() const { return ends[1]; }
  void close_writing() {
    close(ends[1]);
    ends[1] = -1;
  }
};

// Reads both until both are closed: a child that fills the one nobody reads would wait forever.
void drain(const Pipe& output, const Pipe& errors, Finished& finished) {
  std::array<pollfd, 2> waiting{{{output.reading(), POLLIN, 0}, {errors.reading(), POLLIN, 0}}};
  std::array<std::string*, 2> texts{&finished.output, &finished.errors};
  std::array<char, 4096> buffer{};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) fail("poll", errno);
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      const ssize_t count = read(waiting[i].fd, buffer.data(), buffer.size());
      if (count > 0) texts[i]->append(buffer.data(), static_cast<size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) waiting[i].fd = -1;  // poll passes over it
    }
  }
}

}  // namespace

Finished run_again(const std::vector<std::string>& arguments) {
  Pipe output, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.writing(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.writing(), STDERR_FILENO);

  std::vector<std::string> words{report::program_name()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail("posix_spawn", error);

  output.close_writing();
  errors.close_writing();
  Finished finished;
  drain(output, errors, finished);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid", errno);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  if (WIFEXITED(status)) finished.code = WEXITSTATUS(status);
  return finished;
}

}  // namespace cachet::app
