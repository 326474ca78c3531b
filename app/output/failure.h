#pragma once

#include <string>

namespace cachet::app {

/// Reports the current exception of a catch block in one or two lines on standard error, and returns the exit code for
/// it. `who` ("cachet train") begins the message.
int report_failure(const std::string& who);

}  // namespace cachet::app
