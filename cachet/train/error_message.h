#pragma once

#include <exception>
#include <string>

namespace cachet::train {

/// What an error says to a user: of LibTorch's, whose messages carry the call stack, the first line.
std::string error_message(const std::exception& error);

}  // namespace cachet::train
