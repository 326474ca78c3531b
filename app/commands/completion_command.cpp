#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/arguments/one_of.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/shell/completion.h"
#include "cachet/config/named_recipes.h"
#include "cachet/models/registry.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::app {
namespace {

const std::vector<std::string> kCompletedShells{"bash", "zsh", "fish"};

/// The names that find_recipe() takes.
std::vector<std::string> recipe_names() {
  std::set<std::string> names;
  for (const config::NamedRecipe& recipe : config::named_recipes()) names.insert(config::last_part(recipe.name));
  return {names.begin(), names.end()};
}

template <class Row>
std::vector<std::string> names_of_kinds(std::span<const Row* const> kinds) {
  std::vector<std::string> names;
  for (const Row* kind : kinds) names.push_back(kind->name);
  return names;
}

/// `cachet train` also takes a model, and kinds of its parts.
void complete_models(CompletedCommand& train) {
  for (const std::string& model : models::model_names())
    if (std::ranges::find(train.words, model) == train.words.end()) train.words.push_back(model);
  const std::map<std::string, std::vector<std::string>> kinds{
      {"--cache", names_of_kinds(nn::cache_kinds())},
      {"--norm", names_of_kinds(nn::norm_kinds())},
      {"--attention", names_of_kinds(nn::attention_function_kinds())}};
  for (CompletedOption& option : train.options)
    for (const std::string& name : option.names)
      if (const auto found = kinds.find(name); found != kinds.end()) option.choices = found->second;
}

int run_completion(const CLI::App& root, const std::string& shell) {
  std::vector<std::string> commands;
  for (const Command& command : app::commands()) commands.emplace_back(command.name);
  CompletedCommand whole = completed_command(root, {{"RECIPE", recipe_names()},
                                                    {"MODEL", models::model_names()},
                                                    {"COMMAND", commands},
                                                    {"SHELL", kCompletedShells}});
  const auto train = std::ranges::find(whole.commands, "train", &CompletedCommand::name);
  if (train != whole.commands.end()) complete_models(*train);
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
