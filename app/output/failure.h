#pragma once

#include <string>

namespace cachet::app {

/// Inside a catch block: prints on standard error what the exception is about, in a line or two, and returns the exit
/// code that belongs to it. `who` ("cachet train") opens the message.
int report_failure(const std::string& who);

}  // namespace cachet::app
