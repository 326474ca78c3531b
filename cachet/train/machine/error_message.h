#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// Returns the message of an error for a user. LibTorch's error, whose message has the call stack: the first line,
/// without positions in a library's sources (config::plain_message). Error of the file system: the path first. Lack of
/// memory: the requested size. Failure to start a thread: the limit that is reached.
std::string error_message(const std::exception& error);

/// Returns the first line of a message, for tables and sentences.
std::string first_line(const std::string& message);

}  // namespace cachet::train
