#pragma once

#include <string>

namespace cachet::report {

/// Returns the name of this program, for commands in messages: "cachet", or the name of another program that provides
/// the same subcommands.
std::string program_name();

}  // namespace cachet::report
