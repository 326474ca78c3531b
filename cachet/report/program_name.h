#pragma once

#include <string>

namespace cachet::report {

/// What this program is called, for lines that tell a user what to type: "cachet", or the name of a program of one's
/// own that has its subcommands.
std::string program_name();

}  // namespace cachet::report
