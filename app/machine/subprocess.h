#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace cachet::app {

/// The exit status and the output of a process.
struct Finished {
  int code = 0;    // exit code
  int signal = 0;  // number of the signal that ended the process, or 0
  std::string output, errors;
};

/// Runs this program again with other arguments, and waits for its end. Throws std::runtime_error if it cannot start.
Finished run_again(const std::vector<std::string>& arguments);

/// Starts this program again with other arguments and additional environment variables. Does not wait for its end. The
/// process has no input, and its output is lost. If it cannot be started, throws std::runtime_error.
pid_t start_again(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment);

}  // namespace cachet::app
