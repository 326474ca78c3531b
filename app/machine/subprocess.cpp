#include "app/machine/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "cachet/config/library_message.h"
#include "cachet/report/program_name.h"

extern char** environ;

namespace cachet::app {
namespace {

[[noreturn]] void fail(const char* what, int error) {
  throw std::runtime_error(std::string("cannot start another process: ") + what + ": " + config::start_problem(error));
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

/// What is done to the files of a process that is started.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const std::vector<std::string>& arguments, FileActions& actions, char** environment) {
  std::vector<std::string> words{report::program_name()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", actions.get(), nullptr, pointers_to(words).data(), environment);
  if (error != 0) fail("posix_spawn", error);
  return child;
}

}  // namespace

pid_t start_again(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text(*variable);
    if (!environment.contains(text.substr(0, text.find('=')))) variables.push_back(text);
  }
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  FileActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  return spawn(arguments, actions, pointers_to(variables).data());
}

Finished run_again(const std::vector<std::string>& arguments) {
  Pipe output, errors;
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), output.writing(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), errors.writing(), STDERR_FILENO);
  const pid_t child = spawn(arguments, actions, environ);

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
