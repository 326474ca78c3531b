#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// Returns the message of an error for a user. LibTorch's messages have the call stack; only the first line is
/// returned, without positions in a library's sources (config::plain_message). A file-system error begins with the
/// path. Lack of memory names the requested size. Failure to start a thread names the limit that is reached.
std::string error_message(const std::exception& error);

/// Returns the first line of a message, for tables and sentences.
std::string first_line(const std::string& message);

}  // namespace cachet::train
