#pragma once

#include <string>

namespace cachet::report {

/// The name of this program, for commands in messages: "cachet", or the name of another program that has its
/// subcommands.
std::string program_name();

}  // namespace cachet::report
