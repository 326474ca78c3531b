#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The `cachet` command. Each subcommand has its own file and registers itself.
namespace cachet::app {

/// The exit codes of the process, for all subcommands. After a signal, the exit code is 128 plus the signal's number:
/// train::Interruption::exit_code().
enum ExitCode : int { kDone = 0, kFailed = 1, kWrongUsage = 2, kInterrupted = 130 };

/// The error for arguments that parse but make no sense. what() has one or two lines of advice. The exit code is 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The section of `cachet --help` that lists a subcommand.
enum class Topic { runs, models, machine, shell };

/// Runs a subcommand after its arguments are parsed. Returns an ExitCode; failures are exceptions (failure.h).
using Action = std::function<int()>;

struct Command {
  Topic topic;
  std::string_view name;                   // "summary"
  std::string_view summary;                // one line, no full stop
  std::vector<std::string_view> examples;  // whole command lines for --help; the tests run each
  Action (*declare)(CLI::App& app);        // adds the arguments; the returned action owns their variables
  bool takes_texts = false;                // whether arguments in brackets are texts, which whole_text() reads
};

/// Returns the text at the end of a command's help.
std::string examples_text(const std::vector<std::string_view>& examples);

/// Returns the argument of a command that takes texts, as the user typed it. CLI11 would read "[MIN 6 7 ]" as a list
/// and return "MIN 6 7 ". Before this call, such an argument therefore ends with a byte that no shell can type.
std::string whole_text(std::string argument);

/// Adds a subcommand. Each command's source file ends with a constant of this type.
struct Registration {
  explicit Registration(const Command& command);
};

/// Returns all commands, ordered by topic and name.
std::vector<Command> commands();

}  // namespace cachet::app
