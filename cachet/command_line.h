#pragma once

namespace cachet {

/// Runs the `cachet` command in a program that extends it: reads the command line, runs the named subcommand, and
/// prints errors. Returns the process's exit code. Tasks that were registered before the call (tasks/task_kinds.h) can
/// be trained, resumed, evaluated and compared like the library's own tasks. Link cachet::command_line.
int run_command_line(int argc, const char* const* argv);

}  // namespace cachet
