#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// The message of an error for a user. For LibTorch's errors, whose messages have the call stack, the first line,
/// without positions in a library's sources (config::plain_message); for the file system's, the path first; for a lack
/// of memory, the requested size; for a thread that cannot be started, the limit that is reached.
std::string error_message(const std::exception& error);

/// The first line of a message, for tables and sentences that have room for no more.
std::string first_line(const std::string& message);

}  // namespace cachet::train
