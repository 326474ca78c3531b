#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// What an error says to a user. Of LibTorch's, whose messages carry the call stack, the first line; nothing of the
/// places in a library's sources (config::plain_message); of the file system's, the path first; of memory that there is
/// none of, how much was asked for; of a thread that cannot be started, the limit that is reached.
std::string error_message(const std::exception& error);

/// The first line of a message, for tables and sentences that have room for no more.
std::string first_line(const std::string& message);

}  // namespace cachet::train
