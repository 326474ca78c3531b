#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// Returns an error's message in a form for users. LibTorch's messages have the call stack; only the first line is
/// returned, without positions in a library's sources (config::plain_message). The message of a file-system error
/// begins with the path. If memory is lacking, the message names the requested size. For an error of CUDA that a user
/// can remedy, the message has the remedy (gpu_error_text). If a thread cannot be started, the
/// message names the limit that was reached.
std::string error_message(const std::exception& error);

/// Returns the first line of a message, for tables and sentences.
std::string first_line(const std::string& message);

}  // namespace cachet::train
