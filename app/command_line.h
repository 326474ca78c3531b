#pragma once

namespace cachet::app {

/// Reads the command line, runs the subcommand it names and says what went wrong. Returns an ExitCode.
int run_command_line(int argc, const char* const* argv);

}  // namespace cachet::app
