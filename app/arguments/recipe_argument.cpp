#include "app/arguments/recipe_argument.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string_view>
#include <system_error>

#include "app/arguments/common_arguments.h"
#include "app/commands/command.h"
#include "cachet/config/near_names.h"
#include "cachet/config/recipe_file.h"
#include "cachet/config/toml_text.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/report/shell_word.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/train/machine/device.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".toml";

/// Ablations of unified normalization that version 0.1.0 trained on Faster R-CNN, and the paper on Mask R-CNN: the
/// names that they had, and those of today, without the folder. The earlier names are not listed, and go with version
/// 0.2.0.
constexpr std::string_view kEarlierAblation = "coco_faster_rcnn_swin_tiny_un_1x_";
constexpr std::string_view kAblation = "coco_mask_rcnn_swin_tiny_un_1x_";
constexpr std::array<std::string_view, 9> kRenamedAblations{
    "momentum05", "momentum08", "momentum099", "no_backward_momentum", "no_backward_window",
    "window16",   "window2",    "window8",     "own_statistics"};

/// Where a folder that comes with this program may lie, those that are there.
std::vector<fs::path> installed_folders(const fs::path& name) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return folders;
  for (const char* above : {"../share/cachet", "../.."})  // of <prefix>/bin/cachet, of build/<preset>/cachet
    if (fs::is_directory(program / above / name, error)) folders.push_back(program / above / name);
  return folders;
}

std::vector<fs::path> recipe_folders() {
  std::vector<fs::path> folders;
  const char* named = std::getenv("CACHET_RECIPES");
  std::error_code unreadable;
  if (named != nullptr && *named != '\0' && fs::is_directory(named, unreadable)) folders.emplace_back(named);
  const std::vector<fs::path> installed = installed_folders("recipes");
  folders.insert(folders.end(), installed.begin(), installed.end());
  return folders;
}

bool is_file(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path, unreadable);
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string without_suffix(const std::string& name) {
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - std::string_view(kSuffix).size()) : name;
}

/// Today's name of a recipe that had another one, with the folder if it was given.
std::optional<std::string> present_name(const std::string& name) {
  const std::string last = last_part(name);
  for (const std::string_view ablation : kRenamedAblations)
    if (last == std::string(kEarlierAblation) + std::string(ablation))
      return name.substr(0, name.size() - last.size()) + std::string(kAblation) + std::string(ablation);
  return std::nullopt;
}

[[noreturn]] void refuse_unknown(const std::string& word) {
  std::vector<std::string> known;
  for (const NamedRecipe& recipe : named_recipes()) known.push_back(recipe.name);
  std::string near = config::suggestion(without_suffix(word), known);
  if (near.empty()) {
    std::vector<std::string> last;
    for (const std::string& name : known) last.push_back(last_part(name));
    near = config::suggestion(last_part(without_suffix(word)), last);
  }
  throw UsageError("there is no recipe '" + word + "'" + near + "; `cachet recipes` lists those that come with Cachet");
}

}  // namespace

std::optional<fs::path> installed_folder(const fs::path& name) {
  const std::vector<fs::path> folders = installed_folders(name);
  if (folders.empty()) return std::nullopt;
  return folders.front().lexically_normal();
}

std::vector<NamedRecipe> named_recipes() {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : recipe_folders()) {
    std::error_code error;
    for (auto entry = fs::recursive_directory_iterator(folder, error); !error && entry != fs::end(entry);
         entry.increment(error)) {
      const fs::path& path = entry->path();
      if (path.extension() != kSuffix) continue;
      const std::string name = without_suffix(path.lexically_relative(folder).generic_string());
      found.emplace(name, fs::weakly_canonical(path));
    }
  }
  std::vector<NamedRecipe> recipes;
  for (const auto& [name, path] : found) recipes.push_back({name, path});
  return recipes;
}

std::optional<fs::path> known_recipe(const std::string& word) {
  for (const fs::path& path : {fs::path(word), fs::path(word + kSuffix)})
    if (is_file(path)) return path;
  const std::string name = without_suffix(word);
  std::vector<NamedRecipe> ending;
  for (const NamedRecipe& recipe : named_recipes()) {
    if (recipe.name == name) return recipe.path;
    if (recipe.name.ends_with("/" + name)) ending.push_back(recipe);
  }
  if (ending.size() == 1) return ending.front().path;
  if (ending.empty()) {
    const auto present = present_name(name);
    if (!present) return std::nullopt;
    std::cerr << "note: the recipe " << last_part(name) << " is now " << last_part(*present) << '\n';
    return known_recipe(*present);
  }
  std::string message = "several recipes are called '" + word + "':";
  for (const NamedRecipe& recipe : ending) message += " " + report::shell_word(recipe.name);
  throw UsageError(message);
}

fs::path find_recipe(const std::string& word) {
  const auto recipe = known_recipe(word);
  if (!recipe) refuse_unknown(word);
  return *recipe;
}

void add_recipe_settings(CLI::App& app, std::vector<std::string>& settings) {
  app.add_option("--set", settings, "Change a key of the recipe: train.epochs=20, model.cache.kind=grc (repeatable)")
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
  app.add_option("--data", argument.data, "The folder that the data lie in: data.root")->type_name("FOLDER");
  add_recipe_settings(app, argument.settings);
}

void add_saved_run(CLI::App& app, SavedRunArgument& argument) {
  add_saved_model(app, argument,
                  "A run's folder, whose best checkpoint counts, a checkpoint's, a model's or an export's");
  add_device_option(app, argument.device);
}

std::unique_ptr<tasks::Task> load(const tasks::SavedRun& saved, const SavedRunArgument& argument,
                                  tasks::Splits splits) {
  const c10::Device device =
      saved.exported ? c10::Device(c10::kCPU) : device_named(argument.device);  // before data are opened
  if (saved.exported && argument.device != "auto" && !device_named(argument.device).is_cpu())
    throw UsageError(argument.path + " is an export, which runs on the CPU; leave --device out");
  auto task = tasks::load(saved, splits);
  if (const auto note = tasks::untrained_note(saved.run)) std::cerr << *note << '\n';
  train::place(task->model(), device);
  return task;
}

void require_data(const tasks::SavedRun& saved, const SavedRunArgument& argument) {
  const std::vector<tasks::DataPlace> places = saved.plan.task->data();
  if (std::ranges::any_of(places, [](const tasks::DataPlace& place) { return place.root.empty(); }))
    throw UsageError(argument.path + " is a model without data; say where they lie: --data FOLDER");
  if (const auto why = saved.plan.task->absent_data()) throw io::Error(*why);
}

config::Document read_document(const fs::path& recipe, const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_file(recipe);
  for (const std::string& setting : settings) document.set(setting);
  return document;
}

train::WrittenRecipe written_recipe(const fs::path& recipe) {
  return {recipe.stem().string(), io::read_text_file(recipe, config::kMaxRecipeBytes)};
}

}  // namespace cachet::app
