#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <tuple>
#include <variant>

#include "app/arguments/common_arguments.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/data/data_command.h"
#include "app/commands/data/data_look_progress.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/config/glob.h"
#include "cachet/config/named_recipes.h"
#include "cachet/config/near_names.h"
#include "cachet/data/data_path.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/recipe.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct DataListArguments {
  std::string glob, progress = "auto";
  bool json = false, wide = false, quick = false;
};

/// A folder that recipes read data from.
struct RecipeData {
  std::string kind;
  fs::path root;
  std::string files;                              // what should lie there
  std::shared_ptr<const tasks::TaskPlan> plan{};  // of the first recipe
  std::vector<std::string> recipes{};
};

/// A user's own recipe may be half written; that is not a reason to list nothing.
std::optional<tasks::RecipePlan> read_if_valid(const config::NamedRecipe& recipe) try {
  config::Document document = config::Document::from_file(recipe.path);
  return tasks::read_recipe(document);
} catch (const config::Error& error) {
  std::cerr << recipe.name << " is left out: " << error.what() << '\n';
  return std::nullopt;
}

/// What all recipes read, by kind and root.
std::vector<RecipeData> recipes_data() {
  std::vector<RecipeData> all;
  for (const config::NamedRecipe& recipe : config::named_recipes()) {
    const auto plan = read_if_valid(recipe);
    if (!plan) continue;
    for (const tasks::DataPlace& place : plan->task->data()) {
      const auto same = std::ranges::find_if(all, [&](const RecipeData& other) {
        return other.kind == place.kind && other.root == place.root && other.files == place.files;
      });
      RecipeData& entry =
          same == all.end() ? all.emplace_back(RecipeData{place.kind, place.root, place.files, plan->task}) : *same;
      entry.recipes.push_back(recipe.name);
    }
  }
  std::ranges::sort(all, {}, [](const RecipeData& data) { return std::tie(data.kind, data.root, data.files); });
  return all;
}

std::vector<RecipeData> matching_data(const std::string& glob) {
  std::vector<RecipeData> all = recipes_data();
  std::vector<std::string> known;
  for (const RecipeData& data : all) known.insert(known.end(), {data.kind, data.root.string()});
  const auto matches = [&](const RecipeData& data) {
    return config::glob_matches(glob, data.kind) || config::glob_matches(glob, data.root.string());
  };
  if (!glob.empty()) std::erase_if(all, [&](const RecipeData& data) { return !matches(data); });
  if (all.empty())
    throw UsageError("no recipe reads data whose kind or root matches '" + glob + "'" +
                     config::suggestion(glob, known) + "; `cachet data ls` lists all data");
  return all;
}

std::optional<fs::path> place_of(const RecipeData& data) {
  return data::existing_data_path(data.root, data::PathKind::folder, fs::current_path());
}

/// What lies in a folder. `look` is nothing of a folder that is not there, or that is not to be looked at.
struct FoundData {
  std::optional<fs::path> place;
  std::optional<tasks::DataLook> look{};
};

/// A folder that cannot be read as the recipe describes is listed all the same.
FoundData found_data(const RecipeData& data, const DataListArguments& arguments) {
  FoundData found{place_of(data)};
  if (!found.place || arguments.quick) return found;
  try {
    found.look = look_at_data(*data.plan, arguments.progress);
  } catch (const std::exception& error) {
    found.look = tasks::DataLook{.not_compared = error.what()};
  }
  return found;
}

nlohmann::ordered_json to_json(const data::SplitOverlap& overlap) {
  nlohmann::ordered_json json{{"split", overlap.split}, {"samples", overlap.samples}, {"shared", overlap.shared}};
  if (overlap.shared > 0) json["first"] = {{"evaluation", overlap.evaluation}, {"training", overlap.training}};
  return json;
}

/// How many files are passed over; null of a folder that could not be looked into.
nlohmann::ordered_json passed_over_json(const tasks::DataLook& look) {
  if (!look.not_compared.empty()) return nullptr;
  int64_t count = 0;
  for (const data::PassedOver& files : look.passed_over) count += files.count();
  return count;
}

void add_look(const tasks::DataLook& look, nlohmann::ordered_json& json) {
  nlohmann::ordered_json& overlaps = json["overlaps"] = nlohmann::ordered_json::array();
  for (const data::SplitOverlap& overlap : look.overlaps) overlaps.push_back(to_json(overlap));
  if (!look.not_compared.empty()) json["not_compared"] = look.not_compared;
  json["passed_over"] = passed_over_json(look);
}

nlohmann::ordered_json to_json(const std::vector<RecipeData>& all, const DataListArguments& arguments) {
  nlohmann::ordered_json json{{"schema", kSchema}, {"data", nlohmann::ordered_json::array()}};
  for (const RecipeData& data : all) {
    const auto [place, look] = found_data(data, arguments);
    nlohmann::ordered_json& entry = json["data"].emplace_back(
        nlohmann::ordered_json{{"kind", data.kind},
                               {"root", data.root.string()},
                               {"found", place ? nlohmann::ordered_json(place->string()) : nlohmann::ordered_json()},
                               {"files", data.files},
                               {"recipes", data.recipes}});
    if (look) add_look(*look, entry);
  }
  return json;
}

void print_table(const std::vector<RecipeData>& all, const DataListArguments& arguments) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"kind"}, {"root"}, {"recipes", Alignment::right}, {"found here"}};
  table.columns[2].importance = -1;  // how many recipes
  bool missing = false;
  std::vector<std::string> remarks;
  for (const RecipeData& data : all) {
    const auto [place, look] = found_data(data, arguments);
    missing = missing || !place;
    if (look)
      for (const auto& text : {tasks::overlap_text(*look), tasks::passed_over_text(*look)})
        if (text) remarks.push_back(data.root.string() + ": " + *text);
    table.rows.push_back(
        {data.kind, data.root.string(), std::to_string(data.recipes.size()), place ? place->string() : ""});
  }
  const report::TextForm form = printed_form(arguments.wide);
  std::cout << report::text_table(table, form);
  for (const std::string& remark : remarks) std::cout << '\n' << report::text_paragraph(remark, form);
  if (missing)
    std::cout << '\n'
              << report::text_paragraph(
                     "The command looks for a data folder (root) in the working directory, then in the folder that the "
                     "environment variable CACHET_DATA names. `--json` prints what a missing folder should contain.",
                     form);
}

int run_data_list(const DataListArguments& arguments) {
  const std::vector<RecipeData> all = matching_data(arguments.glob);
  if (arguments.json)
    print_json(to_json(all, arguments));
  else
    print_table(all, arguments);
  return kDone;
}

}  // namespace

Action declare_data_list(CLI::App& app) {
  auto arguments = std::make_shared<DataListArguments>();
  app.add_option("GLOB", arguments->glob, "Pattern of the kinds or roots to list, such as 'cifar*' (default: all)")
      ->type_name("");
  app.add_flag(
      "--quick", arguments->quick,
      "Do not read the folders. The list then does not show skipped files or samples that are in several splits");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  add_progress_option(app, arguments->progress);
  return [arguments] { return run_data_list(*arguments); };
}

}  // namespace cachet::app
