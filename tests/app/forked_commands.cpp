// Runs commands as `cachet` does, each in a process of its own that is a copy of this one: LibTorch, whose start takes
// a quarter of a second of a core, starts once. For tests that run hundreds of short commands (forked_commands.py).
//
// Standard input has a JSON object in each line: words (of the command line), folder (to run in), stdin, stdout and
// stderr (files) and seconds (after which the command is killed). The answer is a line with the exit code, or with the
// number of the signal and a minus.
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cachet/command_line.h"

namespace {

void fail_if(bool failed, const char* what) {
  if (!failed) return;
  std::perror(what);
  _exit(127);
}

void redirect(int to, const std::string& file, int flags) {
  const int from = open(file.c_str(), flags, 0644);
  fail_if(from < 0 || dup2(from, to) < 0 || close(from) != 0, file.c_str());
}

[[noreturn]] void run(const nlohmann::json& request) {
  const auto text = [&](const char* key) { return request.at(key).get<std::string>(); };
  fail_if(chdir(text("folder").c_str()) != 0, "the folder of a command");
  redirect(STDIN_FILENO, text("stdin"), O_RDONLY);
  redirect(STDOUT_FILENO, text("stdout"), O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, text("stderr"), O_WRONLY | O_CREAT | O_TRUNC);
  alarm(request.at("seconds").get<unsigned>());
  std::vector<std::string> words{"cachet"};
  for (const auto& word : request.at("words")) words.push_back(word.get<std::string>());
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const int code = cachet::run_command_line(static_cast<int>(arguments.size()), arguments.data());
  // Not exit(): what LibTorch takes apart then is a copy of pages that nobody needs any more.
  std::cout.flush();
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

int main() {
  char name[] = "cachet";  // as messages call the command
  program_invocation_short_name = name;
  for (std::string line; std::getline(std::cin, line);) {
    const pid_t child = fork();
    fail_if(child < 0, "fork");
    if (child == 0) run(nlohmann::json::parse(line));
    int status = 0;
    fail_if(waitpid(child, &status, 0) != child, "waitpid");
    std::cout << (WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)) << std::endl;
  }
}
