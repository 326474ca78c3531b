#include "cachet/command_line.h"

#include <unistd.h>

#include <CLI/Config.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/arguments/number_option.h"
#include "app/arguments/usage.h"
#include "app/commands/command.h"
#include "app/output/failure.h"
#include "app/output/printed_stream.h"
#include "cachet/cachet.h"
#include "cachet/report/program_name.h"
#include "cachet/train/machine/interruption.h"

namespace cachet {
namespace app {
namespace {

std::string topic_title(Topic topic) {
  switch (topic) {
    case Topic::runs:
      return "Train and use";
    case Topic::models:
      return "Look at models";
    case Topic::machine:
      return "This machine";
    case Topic::shell:
      return "This command";
  }
  return {};
}

/// The parser and, by subcommand, what to run once it has parsed.
struct Parser {
  CLI::App app{"Cachet trains and runs transformers with caches, on LibTorch.", report::program_name()};
  std::map<const CLI::App*, Action> actions;

  Parser() {
    app.formatter(std::make_shared<HelpFormatter>());  // the subcommands take it over
    app.set_version_flag("--version", std::string("cachet ") + version(), "Print the version and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.require_subcommand(1);
    app.footer("`" + report::program_name() + " COMMAND --help` shows a command's options and examples.");
    for (const Command& command : commands()) {
      CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
      sub->group(topic_title(command.topic));
      sub->footer(examples_text(command.examples));
      actions[sub] = command.declare(*sub);
    }
    refuse_empty_values(app);
  }
};

constexpr char kBehindBrackets = '\0';

/// The arguments in CLI11's order, the last first.
std::vector<std::string> reversed_arguments(int argc, const char* const* argv) {
  const auto all = commands();
  const bool takes_texts =
      std::ranges::any_of(all, [&](const Command& command) { return command.takes_texts && command.name == argv[1]; });
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words)
    if (takes_texts && word.starts_with('[') && word.ends_with(']')) word += kBehindBrackets;
  std::ranges::reverse(words);
  return words;
}

/// Runs it and makes sure that what it printed has arrived: a full disk after `> file` is a failure.
int run_action(const std::string& name, const Action& action) {
  try {
    const int code = action();
    if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output; is the disk full?");
    return code == kInterrupted ? train::Interruption::exit_code() : code;
  } catch (...) {
    return report_failure(report::program_name() + " " + name);
  }
}

}  // namespace

std::string whole_text(std::string argument) {
  if (argument.ends_with(kBehindBrackets)) argument.pop_back();
  return argument;
}

}  // namespace app

int run_command_line(int argc, const char* const* argv) {
  using namespace app;
  std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f`, writing then fails with a reason (EFBIG), and the command ends
  const PrintedStream output(std::cout, STDOUT_FILENO, Printed::results),
      messages(std::cerr, STDERR_FILENO, Printed::messages, {argv, argv + argc});
  Parser parser;
  if (argc <= 1) {
    std::cerr << parser.app.help();
    return kWrongUsage;
  }
  if (const auto complaint = unknown_verb(parser.app, argv[1])) {
    std::cerr << *complaint;
    return kWrongUsage;
  }
  try {
    parser.app.parse(reversed_arguments(argc, argv));
  } catch (const CLI::Success& asked) {  // --help, --version
    return parser.app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::cerr << usage_complaint(parser.app, error);
    return kWrongUsage;
  }
  const CLI::App* chosen = parser.app.get_subcommands().front();
  std::string name = chosen->get_name();  // "data words"
  for (const CLI::App* below = chosen; !below->get_subcommands().empty(); name += ' ' + below->get_name())
    below = below->get_subcommands().front();
  return run_action(name, parser.actions.at(chosen));
}

}  // namespace cachet
