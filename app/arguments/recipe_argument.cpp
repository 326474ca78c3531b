#include "app/arguments/recipe_argument.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "app/arguments/common_arguments.h"
#include "app/commands/command.h"
#include "cachet/config/named_recipes.h"
#include "cachet/config/recipe_file.h"
#include "cachet/config/toml_text.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/report/shell_word.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/step/step_graphs.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

/// Ablations of unified normalization that version 0.1.0 trained on Faster R-CNN, and the paper on Mask R-CNN: the
/// names that they had, and those of today, without the folder. The earlier names are not listed, and go with version
/// 0.2.0.
constexpr std::string_view kEarlierAblation = "coco_faster_rcnn_swin_tiny_un_1x_";
constexpr std::string_view kAblation = "coco_mask_rcnn_swin_tiny_un_1x_";
constexpr std::array<std::string_view, 9> kRenamedAblations{
    "momentum05", "momentum08", "momentum099", "no_backward_momentum", "no_backward_window",
    "window16",   "window2",    "window8",     "own_statistics"};

bool is_file(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path, unreadable);
}

/// Today's name of a recipe that had another one, with the folder if it was given.
std::optional<std::string> present_name(const std::string& name) {
  const std::string last = config::last_part(name);
  for (const std::string_view ablation : kRenamedAblations)
    if (last == std::string(kEarlierAblation) + std::string(ablation))
      return name.substr(0, name.size() - last.size()) + std::string(kAblation) + std::string(ablation);
  return std::nullopt;
}

[[noreturn]] void refuse_unknown(const std::string& word) {
  throw UsageError("there is no recipe '" + word + "'" + config::recipe_suggestion(word, config::named_recipes()) +
                   "; `cachet recipes` lists the recipes that come with Cachet");
}

}  // namespace

std::optional<fs::path> known_recipe(const std::string& word) {
  for (const fs::path& path : {fs::path(word), fs::path(word + std::string(config::kRecipeSuffix))})
    if (is_file(path)) return path;
  const std::vector<config::NamedRecipe> called = config::recipes_called(word, config::named_recipes());
  if (called.size() == 1) return called.front().path;
  if (called.empty()) {
    const auto present = present_name(config::without_recipe_suffix(word));
    return present ? known_recipe(*present) : std::nullopt;
  }
  std::string message = "give the full name of the recipe, because several recipes are called '" + word + "':";
  for (const config::NamedRecipe& recipe : called) message += " " + report::shell_word(recipe.name);
  throw UsageError(message);
}

fs::path find_recipe(const std::string& word) {
  const auto recipe = known_recipe(word);
  if (!recipe) refuse_unknown(word);
  const std::string name = config::last_part(config::without_recipe_suffix(word)), present = recipe->stem().string();
  static std::set<std::string> noted;  // a command may look for its recipe several times
  if (present_name(name) == present && noted.insert(name).second)
    std::cerr << "note: the recipe " << name << " is now " << present << '\n';
  return *recipe;
}

void add_recipe_settings(CLI::App& app, std::vector<std::string>& settings) {
  app.add_option("--set", settings,
                 "Set a key of the recipe, for example train.epochs=20 or model.cache.kind=grc (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

std::vector<std::string> SavedRunArgument::all_settings() const {
  std::vector<std::string> all = settings;
  if (!data.empty()) all.push_back("data.root=" + config::toml_text(data));
  return all;
}

void add_saved_model(CLI::App& app, SavedRunArgument& argument, const char* what) {
  app.add_option("RUN", argument.path, what)->required()->type_name("");
  app.add_option("--data", argument.data, "Folder of the data; sets the key data.root")->type_name("FOLDER");
  add_recipe_settings(app, argument.settings);
}

void add_saved_run(CLI::App& app, SavedRunArgument& argument) {
  add_saved_model(app, argument, "Folder of a run (its best checkpoint is used), a checkpoint, a model or an export");
  add_device_option(app, argument.device);
}

std::unique_ptr<tasks::Task> load(const tasks::SavedRun& saved, const SavedRunArgument& argument,
                                  tasks::Splits splits) {
  const c10::Device device =
      saved.exported ? c10::Device(c10::kCPU) : device_named(argument.device);  // before data are opened
  if (saved.exported && argument.device != "auto" && !device_named(argument.device).is_cpu())
    throw UsageError(argument.path + " is an export, and exports run only on the CPU; leave --device out");
  auto task = tasks::load(saved, splits);
  if (const auto note = tasks::untrained_note(saved.run)) std::cerr << *note << '\n';
  train::place(task->model(), device);
  const std::string note = train::replay_predictions(*task, saved.plan.training.train.graph, device);
  if (!note.empty()) std::cerr << "note: " << note << '\n';
  return task;
}

void require_data(const tasks::SavedRun& saved, const SavedRunArgument& argument) {
  const std::vector<tasks::DataPlace> places = saved.plan.task->data();
  if (std::ranges::any_of(places, [](const tasks::DataPlace& place) { return place.root.empty(); }))
    throw UsageError(argument.path + " is a model without data; give the folder of the data with --data FOLDER");
  if (const auto why = saved.plan.task->absent_data()) throw io::Error(*why);
}

config::Document read_document(const fs::path& recipe, const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_file(recipe);
  for (const std::string& setting : settings) document.set(setting);
  return document;
}

config::Document read_document(const train::WrittenRecipe& recipe, const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_text(recipe.text, "the recipe " + recipe.name + " made by Cachet");
  for (const std::string& setting : settings) document.set(setting);
  return document;
}

train::WrittenRecipe written_recipe(const fs::path& recipe) {
  return {recipe.stem().string(), io::read_text_file(recipe, config::kMaxRecipeBytes)};
}

}  // namespace cachet::app
