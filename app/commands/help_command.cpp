#include <iostream>
#include <memory>
#include <vector>

#include "app/arguments/usage.h"
#include "app/commands/command.h"

namespace cachet::app {
namespace {

/// The help of a parser, whichever of its subcommands was chosen.
std::string help_of(const CLI::App& app, const std::string& name) {
  return app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal);
}

int run_help(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  std::string name = root.get_name();
  for (const std::string& word : words) {
    const bool has_commands = !app->get_subcommands([](const CLI::App*) { return true; }).empty();
    if (!has_commands)
      throw UsageError("'" + name + "' has no subcommands; use: " + root.get_name() + " help" +
                       name.substr(root.get_name().size()));
    if (const auto complaint = unknown_verb(*app, word)) {
      std::cerr << *complaint;
      return kWrongUsage;
    }
    app = app->get_subcommand(word);
    name += " " + word;
  }
  std::cout << help_of(*app, name);
  return kDone;
}

Action declare_help(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("COMMAND", *words, "A command, such as `train` or `data words`")->type_name("");
  return [&app, words] { return run_help(*app.get_parent(), *words); };
}

const Registration registered_help({Topic::shell,
                                    "help",
                                    "Print the options and examples of a command",
                                    {"cachet help train", "cachet help data words"},
                                    declare_help});

}  // namespace
}  // namespace cachet::app
