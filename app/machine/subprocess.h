#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace cachet::app {

/// How a process ended and what it wrote.
struct Finished {
  int code = 0;    // its exit code
  int signal = 0;  // or what ended it
  std::string output, errors;
};

/// Runs this program again, with other arguments, and waits for it. Throws std::runtime_error where that cannot be.
Finished run_again(const std::vector<std::string>& arguments);

/// Starts this program again, with other arguments and more variables of the environment, and does not wait
/// for it. It reads nothing, and its output is lost. Throws std::runtime_error where that cannot be.
pid_t start_again(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment);

}  // namespace cachet::app
