#include "app/training/own_data.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/arguments/weights_argument.h"
#include "app/commands/command.h"
#include "app/training/weights_preparation.h"
#include "cachet/config/named_recipes.h"
#include "cachet/config/near_names.h"
#include "cachet/config/toml_text.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/own_data/own_recipe.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/timm_config.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

bool model_can(const std::string& model, models::Capability capability) {
  const std::vector<models::Capability> can = models::abilities_of(model);
  return std::ranges::find(can, capability) != can.end();
}

constexpr const char* kFittingBatch = "auto";

CLI::Validator batch_size() {
  const CLI::Validator number = number_within(NumberRange<int64_t>{1});
  return {[number](std::string& word) -> std::string {
            if (word == kFittingBatch) return "";
            const std::string problem = number(word);
            return problem.empty() ? "" : problem + "; the value auto is possible, too";
          },
          ""};
}

/// What the options mean in recipes of this model; of a recipe the first meaning of each.
std::vector<std::string> settings_of(const ShortOptions& options, const std::string& model) {
  std::vector<std::string> settings;
  const auto set = [&](const char* key, const std::string& value) {
    settings.push_back(std::string(key) + "=" + value);
  };
  if (options.epochs) set("train.epochs", std::to_string(*options.epochs));
  if (!options.batch_size.empty() && options.batch_size != kFittingBatch)
    set(model_can(model, models::Capability::translation_model) ? "data.max_samples" : "train.batch_size",
        options.batch_size);
  if (options.learning_rate) set("optimizer.lr", config::toml_text(*options.learning_rate));
  if (options.image_size) {
    const std::string side = std::to_string(*options.image_size);
    if (model_can(model, models::Capability::object_detector)) {
      set("data.transform.long_side", side);
      set("data.transform.short_sides", "[" + side + "]");
    } else {
      set("data.resize.image_size", side);
    }
  }
  if (!options.init.empty()) set("train.init", config::toml_text(options.init));
  if (!options.cache.empty()) set("model.cache.kind", config::toml_text(options.cache));
  if (!options.norm.empty()) set("model.norm.kind", config::toml_text(options.norm));
  if (!options.attention.empty()) set("model.attention.kind", config::toml_text(options.attention));
  if (options.freeze) set("optimizer.backbone_rate", "0");
  return settings;
}

/// The kind of model that a recipe trains, by its name in the recipe; empty if the recipe cannot be read.
std::string model_of(const TrainArguments& arguments) {
  try {
    std::error_code unreadable;
    if (fs::is_directory(arguments.target, unreadable)) return "";
    config::Document document = read_document(known_recipe(arguments.target).value(), arguments.settings);
    return document.root().table("model").text("name", "");
  } catch (const std::exception&) {
    return "";
  }
}

/// The weights that the run will start from: the last setting counts.
std::string init_of(const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_text("", "settings");
  for (const std::string& setting : settings)
    if (setting.starts_with("train.init=")) document.set(setting);
  return document.root().table("train").text("init", "");
}

/// What has the preparation of images for these weights: timm's config.json, or a model folder; empty if nothing has.
fs::path beside_preparation_of(const std::string& weights) {
  if (weights.empty()) return {};
  if (tasks::is_model_folder(weights)) return weights;
  return beside_config_of(weights).value_or(fs::path());
}

/// The target is weights of the hub, which timm's config.json names the model of: that model is trained from them.
void train_model_of_weights(TrainArguments& arguments, ShortOptions& options) {
  const std::string weights = arguments.target;
  const std::string remedy = "; give the name of the model: cachet train MODEL --data FOLDER --init " + weights;
  if (!options.init.empty()) throw UsageError(weights + " already names the weights to start from; leave --init out");
  if (options.data.empty())
    throw UsageError(weights + " names weights; give the data to train the weights on: cachet train " + weights +
                     " --data FOLDER");
  const auto config = beside_config_of(weights);
  const auto named = config ? tasks::timm_model(*config) : std::nullopt;
  if (!named) throw UsageError(weights + ": no config.json of timm names the model of these weights" + remedy);
  if (models::abilities_of(named->name).empty())
    throw UsageError(weights + ": config.json names the model " + io::in_quotes(named->name) +
                     ", which `cachet models` does not list; if the list has this model under another name, " +
                     remedy.substr(2));
  options.init = weights;
  arguments.target = named->name;
}

/// With --data, an unknown target may be a model or a recipe. With --resume, it may be a run or a recipe.
[[noreturn]] void refuse_target(const std::string& target, bool is_run) {
  if (is_run)
    throw UsageError("there is no run and no recipe '" + target + "'" +
                     config::recipe_suggestion(target, config::named_recipes()) +
                     "; `cachet runs` lists the runs, and `cachet recipes` lists the recipes");
  const std::vector<std::string> near_models = config::near_names(target, models::model_names());
  const std::string suggestion = near_models.empty() ? config::recipe_suggestion(target, config::named_recipes())
                                                     : config::did_you_mean(near_models);
  throw UsageError("there is no model and no recipe '" + target + "'" + suggestion +
                   "; `cachet models` lists the models, and `cachet recipes` lists the recipes");
}

/// Whether the run would train a head on a backbone of random weights.
bool freezes_random_weights(const TrainArguments& arguments, bool is_recipe) {
  std::error_code unreadable;
  if (arguments.resume || fs::is_directory(arguments.target, unreadable)) return false;
  if (!init_of(arguments.settings).empty()) return false;
  if (!is_recipe) return true;
  try {
    config::Document document = read_document(known_recipe(arguments.target).value(), arguments.settings);
    return document.root().table("train").text("init", "").empty();
  } catch (const std::exception&) {
    return false;  // the reader of the recipe reports it
  }
}

}  // namespace

void add_short_options(CLI::App& app, ShortOptions& options) {
  app.add_option(
         "--data", options.data,
         "Your data: class folders of images or texts, tar shards of images, a COCO folder, text files, a folder with "
         "two parallel files, or a TSV file. With a recipe, --data sets data.root")
      ->type_name("FOLDER");
  add_number(app, "--epochs", options.epochs, "Set train.epochs", {1})->type_name("N");
  app.add_option("--batch-size", options.batch_size,
                 "Set train.batch_size (for a translation model: data.max_samples). The value auto keeps the batch of "
                 "the recipe if it fits into memory, and else splits each step into smaller batches (train.accumulate)")
      ->transform(batch_size())
      ->type_name("N|auto");
  add_number(app, "--lr", options.learning_rate, "Set optimizer.lr")->type_name("X");
  add_number(app, "--image-size", options.image_size,
             "Set data.resize.image_size (for a detector: data.transform.long_side and data.transform.short_sides)",
             {1, 65536})
      ->type_name("PIXELS");
  app.add_option("--init", options.init,
                 "Set train.init, the weights to start from: a run, a model folder, a file or hf:OWNER/NAME")
      ->type_name("PATH");
  app.add_option("--cache", options.cache, "Set model.cache.kind: grc, fifo and so on")->type_name("KIND");
  app.add_option("--norm", options.norm, "Set model.norm.kind: layer, un, rms and so on")->type_name("KIND");
  app.add_option("--attention", options.attention, "Set model.attention.kind: softmax, kernel and so on")
      ->type_name("KIND");
  app.add_flag("--freeze", options.freeze, "Train only the head (sets optimizer.backbone_rate=0)");
}

TrainArguments with_own_data(const TrainArguments& asked, const ShortOptions& given) {
  TrainArguments arguments = asked;
  ShortOptions options = given;
  const bool is_weights = hub::is_remote(arguments.target);
  if (is_weights) train_model_of_weights(arguments, options);
  const std::string& target = arguments.target;
  std::error_code unreadable;
  const bool is_path = fs::exists(target, unreadable) || fs::exists(target + ".toml", unreadable);
  const bool is_model = is_weights || (!is_path && !models::abilities_of(target).empty());
  const bool is_known_recipe = !is_weights && (is_path || known_recipe(target).has_value());
  if (!is_model && !is_known_recipe && (arguments.resume || !options.data.empty()))
    refuse_target(target, /*is_run=*/options.data.empty());
  // The data of a recipe are a folder.
  const bool is_recipe =
      !is_weights && !(is_model && (!is_known_recipe || fs::is_regular_file(options.data, unreadable)));
  if (is_known_recipe && is_model && is_first_process())
    std::cerr << "note: " << target << " is the name of both a recipe and a model; the command trains the "
              << (is_recipe ? "recipe" : "model, because --data is a file and not a folder") << '\n';
  std::vector<std::string> settings = settings_of(options, is_recipe ? model_of(arguments) : target);
  if (is_recipe && !options.data.empty()) settings.push_back("data.root=" + config::toml_text(options.data));
  settings.insert(settings.end(), arguments.settings.begin(), arguments.settings.end());
  arguments.settings = std::move(settings);
  arguments.fitting_batch = options.batch_size == kFittingBatch;
  if (options.freeze && is_first_process() && freezes_random_weights(arguments, is_recipe))
    std::cerr << "note: --freeze trains only the head, and the rest of the model has random weights; to start from "
                 "trained weights, give --init\n";
  if (is_recipe) return arguments;
  if (options.data.empty())
    throw UsageError(target + " is a model; give the data to train the model on: cachet train " + target +
                     " --data FOLDER");
  const std::string init = init_of(arguments.settings);
  const fs::path weights = beside_preparation_of(init);
  try {
    const tasks::OwnRecipe own = tasks::make_own_recipe(
        {target, options.data, fs::path(arguments.runs) / "data", arguments.settings, init, weights});
    arguments.made = train::WrittenRecipe{own.name, own.text};
    if (is_first_process())
      for (const std::string& line : own.lines) std::cerr << line << '\n';
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  return arguments;
}

}  // namespace cachet::app
