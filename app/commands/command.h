#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The `cachet` command: one file a subcommand, each of which registers itself.
namespace cachet::app {

/// What the process ends with, whatever the subcommand.
/// Of a process that a signal stopped it is 128 and the signal's number: train::Interruption::exit_code().
enum ExitCode : int { kDone = 0, kFailed = 1, kWrongUsage = 2, kInterrupted = 130 };

/// Arguments that parse but make no sense. what() has one or two lines about what to do; the process ends with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where `cachet --help` lists a subcommand.
enum class Topic { runs, models, machine, shell };

/// Runs a subcommand whose arguments are read. Returns an ExitCode; failures are exceptions (failure.h).
using Action = std::function<int()>;

struct Command {
  Topic topic;
  std::string_view name;                   // "summary"
  std::string_view summary;                // one line, no full stop
  std::vector<std::string_view> examples;  // whole command lines for --help; the tests run each
  Action (*declare)(CLI::App& app);        // adds the arguments; what it returns owns the variables they are read into
  bool takes_texts = false;                // arguments in brackets are texts, which it reads through whole_text()
};

/// What the help of a command ends with.
std::string examples_text(const std::vector<std::string_view>& examples);

/// The argument of a command that takes texts, as it was typed. CLI11 would take "[MIN 6 7 ]" for a list and give
/// "MIN 6 7 ": a byte that no shell can type stands after it until here.
std::string whole_text(std::string argument);

/// Adds a subcommand, from a constant at the end of its file.
struct Registration {
  explicit Registration(const Command& command);
};

/// All of them, by topic and name.
std::vector<Command> commands();

}  // namespace cachet::app
