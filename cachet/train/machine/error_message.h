#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// Returns the message of an error for a user. LibTorch's errors, whose messages have the call stack: the first line,
/// without positions in a library's sources (config::plain_message). Errors of the file system: the path first. Lack of
/// memory: the requested size. A thread that cannot be started: the limit that is reached.
std::string error_message(const std::exception& error);

/// Returns the first line of a message, for tables and sentences.
std::string first_line(const std::string& message);

}  // namespace cachet::train
