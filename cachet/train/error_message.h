#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// What an error says to a user: of LibTorch's, whose messages carry the call stack, the first line.
std::string error_message(const std::exception& error);

/// The first line of a message, for tables and sentences that have room for no more.
std::string first_line(const std::string& message);

}  // namespace cachet::train
