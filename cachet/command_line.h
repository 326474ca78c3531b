#pragma once

namespace cachet {

/// The `cachet` command, for a program that adds to it: tasks registered before (tasks/task_kinds.h) train, resume, are
/// evaluated and compared like the library's own. Reads the command line, runs the subcommand that it names, and prints
/// errors. Returns the process's exit code. Link cachet::command_line.
int run_command_line(int argc, const char* const* argv);

}  // namespace cachet
