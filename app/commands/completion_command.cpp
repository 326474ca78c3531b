#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "app/arguments/one_of.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/shell/completion.h"
#include "cachet/config/named_recipes.h"
#include "cachet/models/registry.h"

namespace cachet::app {
namespace {

const std::vector<std::string> kCompletedShells{"bash", "zsh", "fish"};

/// The names that find_recipe() takes.
std::vector<std::string> recipe_names() {
  std::set<std::string> names;
  for (const config::NamedRecipe& recipe : config::named_recipes()) names.insert(config::last_part(recipe.name));
  return {names.begin(), names.end()};
}

int run_completion(const CLI::App& root, const std::string& shell) {
  std::vector<std::string> commands;
  for (const Command& command : app::commands()) commands.emplace_back(command.name);
  const CompletedCommand whole = completed_command(root, {{"RECIPE", recipe_names()},
                                                          {"MODEL", models::model_names()},
                                                          {"COMMAND", commands},
                                                          {"SHELL", kCompletedShells}});
  const std::string& program = root.get_name();
  std::cout << (shell == "bash"  ? bash_completion(whole, program)
                : shell == "zsh" ? zsh_completion(whole, program)
                                 : fish_completion(whole, program));
  return kDone;
}

Action declare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of(kCompletedShells))->type_name("");
  return [&app, shell] { return run_completion(*app.get_parent(), *shell); };
}

const Registration registered_completion({Topic::shell,
                                          "completion",
                                          "Print a script that completes commands and options in your shell",
                                          {"cachet completion bash > cachet.bash",
                                           "cachet completion fish > cachet.fish"},
                                          declare_completion});

}  // namespace
}  // namespace cachet::app
