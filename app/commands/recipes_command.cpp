#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <memory>
#include <string_view>

#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/config/glob.h"
#include "cachet/config/named_recipes.h"
#include "cachet/config/near_names.h"
#include "cachet/config/recipe_file.h"
#include "cachet/config/set_option.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/runs/paper_rows.h"

namespace cachet::app {
namespace {

struct RecipesArguments {
  std::string glob, name, file;
  bool json = false, wide = false;
};

/// The comment that a recipe opens with, without its marks.
std::string opening_comment(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text, line;
  while (std::getline(file, line) && line.starts_with('#')) {
    line.erase(0, line.find_first_not_of("# "));
    text += (text.empty() ? "" : " ") + line;
  }
  return text;
}

/// Whether a full stop ends a sentence: not that of "Sec. 4.1", "et al. (2020)".
bool ends_sentence(std::string_view text, size_t stop) {
  constexpr std::array<std::string_view, 8> kShortened{"Sec", "Fig", "Tab", "Eq", "App", "Ch", "al", "vs"};
  const std::string_view before = text.substr(0, stop), behind = text.substr(stop + 1);
  const std::string_view word = before.substr(before.find_last_of(" (") + 1);
  if (std::ranges::find(kShortened, word) != kShortened.end()) return false;
  return behind.empty() || behind.front() == ' ';
}

/// Without its full stop.
std::string first_sentence(const std::string& text) {
  for (size_t stop = text.find('.'); stop != std::string::npos; stop = text.find('.', stop + 1))
    if (ends_sentence(text, stop)) return text.substr(0, stop);
  return text;
}

std::vector<config::NamedRecipe> matching_recipes(const std::string& glob) {
  std::vector<config::NamedRecipe> recipes = config::named_recipes();
  std::vector<std::string> names;
  for (const config::NamedRecipe& recipe : recipes) names.push_back(recipe.name);
  std::erase_if(recipes, [&](const config::NamedRecipe& recipe) {
    return !glob.empty() && !config::glob_matches(glob, recipe.name) && !config::glob_matches("*/" + glob, recipe.name);
  });
  if (recipes.empty())
    throw UsageError("no recipe matches '" + glob + "'" + config::suggestion(glob, names) +
                     "; `cachet recipes` lists all");
  return recipes;
}

/// The rows of papers that a recipe itself names; those of its bases are other recipes' rows.
std::vector<train::PaperRow> own_rows(const std::filesystem::path& path) {
  try {
    config::Document document = config::Document::from_file(path);
    const auto paper = train::read_paper_rows(document.root());
    if (!paper || paper->rows.empty() || document.resolved().front().origin.source != path.string()) return {};
    return paper->rows;
  } catch (const config::Error&) {
    return {};
  }
}

/// What a recipe trains, and of which kind of task: null of a user's own that is half written, which is listed all the
/// same.
nlohmann::ordered_json recipe_json(const config::NamedRecipe& recipe) {
  nlohmann::ordered_json json{{"name", recipe.name},
                              {"path", recipe.path.string()},
                              {"summary", opening_comment(recipe.path)},
                              {"task", nullptr},
                              {"model", nullptr},
                              {"paper", nlohmann::ordered_json::array()}};
  for (const train::PaperRow& row : own_rows(recipe.path))
    json["paper"].push_back({{"arxiv", row.arxiv}, {"row", row.row}, {"value", row.value}});
  try {
    config::Document document = config::Document::from_file(recipe.path);
    const tasks::TaskProfile profile = tasks::read_recipe(document).task->profile();
    json["task"] = profile.kind;
    json["model"] = profile.model.name;
  } catch (const config::Error&) {
  }
  return json;
}

int list_recipes(const RecipesArguments& arguments) {
  const std::vector<config::NamedRecipe> recipes = matching_recipes(arguments.glob);
  if (arguments.json) {
    nlohmann::ordered_json json{{"schema", kSchema}, {"recipes", nlohmann::ordered_json::array()}};
    for (const config::NamedRecipe& recipe : recipes) json["recipes"].push_back(recipe_json(recipe));
    print_json(json);
    return kDone;
  }
  report::Table table;
  table.columns = {{"recipe"}, {"what it is"}};
  for (const config::NamedRecipe& recipe : recipes) {
    std::string text = first_sentence(opening_comment(recipe.path));
    for (const train::PaperRow& row : own_rows(recipe.path)) text += "; " + train::paper_row_text(row);
    table.rows.push_back({recipe.name, text});
  }
  std::cout << report::text_table(table, printed_form(arguments.wide));
  return kDone;
}

/// A recipe without bases with the values of this one and of its bases. It has no row of a paper, since it is made to
/// be changed.
std::string standalone(const std::filesystem::path& path) {
  config::Document document = config::Document::from_file(path);
  tasks::read_recipe(document);
  std::vector<std::pair<std::string, std::string>> tables;  // header, lines; in the order of reading
  for (const auto& value : document.resolved()) {
    if (value.origin.source == config::kDefaultSource || train::is_of_paper(value.key)) continue;
    const size_t dot = value.key.rfind('.');
    const std::string table = dot == std::string::npos ? "" : value.key.substr(0, dot);
    auto found = std::find_if(tables.begin(), tables.end(), [&](const auto& t) { return t.first == table; });
    if (found == tables.end()) found = tables.insert(tables.end(), {table, ""});
    found->second += value.key.substr(dot + 1) + " = " + value.toml + "\n";
  }
  std::string text = "# " + opening_comment(path) + "\n";
  for (const auto& [table, lines] : tables) text += "\n[" + table + "]\n" + lines;
  const config::Node merged = config::read_recipe(path);
  if (const config::Node* sweep = config::find(merged, "sweep")) {  // which is not a part of the document
    text += "\n[sweep]\n";
    for (std::string assignment : config::assignments_of(*sweep))
      text += assignment.replace(assignment.find('='), 1, " = ") + "\n";
  }
  return text;
}

int copy_recipe(const RecipesArguments& arguments) {
  const std::filesystem::path from = find_recipe(arguments.name), to = arguments.file;
  if (std::filesystem::exists(std::filesystem::symlink_status(to)))
    throw UsageError(to.string() + " already exists; give another name");
  io::write_file_atomically(to, standalone(from));
  std::cout << to.string() << '\n';
  return kDone;
}

Action declare_recipes(CLI::App& app) {
  auto arguments = std::make_shared<RecipesArguments>();
  app.add_option("GLOB", arguments->glob, "Pattern of the names to list, such as 'cifar10*' (default: all)")
      ->type_name("");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  CLI::App* copy =
      app.add_subcommand("cp", "Copy a recipe to a file that you can edit, with its base recipes merged into it");
  copy->add_option("NAME", arguments->name, "Name or file of a recipe")->required()->type_name("");
  copy->add_option("FILE", arguments->file, "The file to write, which must not exist")->required()->type_name("");
  return [arguments, copy] { return copy->parsed() ? copy_recipe(*arguments) : list_recipes(*arguments); };
}

const Registration registered_recipes({Topic::runs,
                                       "recipes",
                                       "List the recipes that come with Cachet, or copy one to edit it",
                                       {"cachet recipes", "cachet recipes 'cifar10*' --json",
                                        "cachet recipes cp demo_cached my-recipe.toml"},
                                       declare_recipes});

}  // namespace
}  // namespace cachet::app
