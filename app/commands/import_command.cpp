#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

#include "app/arguments/model_argument.h"
#include "app/arguments/number_option.h"
#include "app/arguments/weights_argument.h"
#include "app/commands/command.h"
#include "app/commands/import_json.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/report/program_name.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/image_classification/preprocessing.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/model_recipe.h"
#include "cachet/tasks/weights/source_class_names.h"
#include "cachet/tasks/weights/timm_config.h"
#include "cachet/tasks/weights/weight_import.h"
#include "cachet/train/machine/process_setup.h"

namespace cachet::app {
namespace {

struct ImportArguments {
  std::string file, names, key;
  OutputArgument output;
  ModelArgument model;
  uint64_t seed = 0;
  bool partial = false, json = false;
};

/// The folder's recipe, and its values.
struct Imported {
  config::Document recipe;
  tasks::ModelRecipe read;
};

Imported read_imported(const ModelArgument& model, const tasks::Preprocessing& defaults) {
  Imported imported;
  set_model(model, tasks::has_model_folder,
            "cannot be imported, because Cachet knows no other code base that has this model", imported.recipe);
  imported.read = tasks::read_model_recipe(imported.recipe, defaults);
  imported.recipe.finish();
  return imported;
}

std::string file_digest(const std::string& file) {
  return io::sha256_hex(io::read_file(file, io::InputFile(file).size()));
}

/// The tensors that hold what the model was built with. Those of a model folder stay untrained in another one.
std::vector<std::string> untrained_tensors(const tasks::WeightImportReport& report, const std::filesystem::path& file) {
  std::vector<std::string> names = report.untrained();
  if (!tasks::is_model_file(file)) return names;
  for (const std::string& name : tasks::untrained_tensors(file.parent_path()))
    if (std::ranges::find(report.loaded, name) != report.loaded.end()) names.push_back(name);
  return names;
}

/// Refuses folders, and the weights of an export, which were rewritten.
void require_weights_file(const std::filesystem::path& file) {
  const std::string remedy =
      "`" + report::program_name() + " export RUN -o FILE.safetensors` writes the weights of a run or a model";
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw UsageError(file.string() + " is a folder, but `import` needs a file of weights; " + remedy);
  if (runtime::is_export(file.parent_path()))
    throw UsageError(file.string() + " belongs to an export, whose weights were rewritten; " + remedy);
}

/// Without --model, the model is the one that timm's config.json next to the weights names.
void take_model_of_file(ModelArgument& model, const std::filesystem::path& file) {
  if (!model.name.empty()) return;
  const auto named = tasks::timm_model(file);
  if (!named)
    throw UsageError("--model is required: there is no config.json of timm next to " + file.string() +
                     " that names the model; `cachet models` lists the names");
  if (models::abilities_of(named->name).empty())
    throw UsageError(file.parent_path().string() + "/config.json names the model " + io::in_quotes(named->name) +
                     ", which `cachet models` does not list; if the list has this model under another name, give that "
                     "name with --model");
  model.name = named->name;
  model.settings.insert(model.settings.begin(), named->settings.begin(), named->settings.end());
}

int run_import(ImportArguments arguments) {
  const hub::FetchedWeights weights = fetched_weights(arguments.file);
  arguments.file = weights.file.string();
  require_weights_file(arguments.file);
  take_model_of_file(arguments.model, weights.file);
  const tasks::ModelRecipe first = read_imported(arguments.model, {}).read;
  const models::ModelPlan& plan = first.plan;
  const std::string digest = file_digest(arguments.file);
  const std::string& output = arguments.output.path;
  require_folder_output(
      arguments.output,
      {{}, {arguments.file}, [&](const auto& folder) { return tasks::is_model_folder_of(folder, plan.name, digest); }},
      tasks::is_model_folder);
  train::TrainOptions process;
  process.seed = arguments.seed;
  train::prepare_process(process);
  const auto model = plan.build();
  tasks::WeightImportOptions options;
  options.key = arguments.key;
  options.partial = arguments.partial;
  options.source = io::name_source(arguments.names);
  const auto report = tasks::import_weights(*model, arguments.file, options);
  // How its images are prepared is only known now that it is known whose weights these are.
  ModelArgument named = arguments.model;
  const std::vector<std::string> names =
      tasks::source_class_names(arguments.file, report, first.classifier ? first.classifier->classes : 0);
  named.settings.insert(named.settings.begin(), names.begin(), names.end());
  const Imported imported =
      read_imported(named, first.classifier ? tasks::preprocessing_of(arguments.file, report.source, *first.classifier)
                                            : tasks::Preprocessing());
  tasks::write_model_folder(
      output, io::state_dict(*model), imported.recipe,
      {.architecture = plan.name,
       .source = hub::is_remote(weights.origin) ? weights.origin : weights.file.filename().string(),
       .names = std::string(io::to_string(report.source)),
       .source_digest = digest,
       .input = imported.read.input,
       .untrained = untrained_tensors(report, arguments.file)});
  if (arguments.json) {
    print_json(import_json(report, plan.name, weights.origin, imported.read.input, output));
    return kDone;
  }
  for (const std::string& line : tasks::report_lines(report, weights.origin)) std::cout << line << '\n';
  if (!imported.read.preparation.empty()) std::cout << "images: " << imported.read.preparation << '\n';
  std::cout << output << '\n';
  return kDone;
}

Action declare_import(CLI::App& app) {
  auto arguments = std::make_shared<ImportArguments>();
  app.add_option("FILE", arguments->file,
                 "File of weights: .safetensors, or a file that torch.save wrote (.pth, .pt, .bin). hf:OWNER/NAME and "
                 "https addresses are downloaded")
      ->required()
      ->type_name("");
  app.add_option("--model", arguments->model.name,
                 "Name of the model that the weights belong to, from `cachet models` (default: the model named in "
                 "timm's config.json)")
      ->type_name("NAME");
  add_output(app, arguments->output, "The folder to create, with the weights, recipe.toml and config.json", "FOLDER")
      ->required();
  add_names_option(app, "--from", arguments->names,
                   "The code base whose tensor names the file uses (default: recognised from the names)");
  app.add_option("--key", arguments->key, "Key of the weights to load, if the file has several sets of weights")
      ->type_name("KEY");
  app.add_option("--set", arguments->model.settings,
                 "Set a key of the model or of its image preprocessing, for example model.classes=10 or "
                 "data.resize.crop_fraction=1.0 (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--partial", arguments->partial,
               "Load the tensors that fit, even if other tensors of the model or of the file do not fit");
  add_number(app, "--seed", arguments->seed, "Random seed for parameters that are not in the file (default: 0)")
      ->type_name("N");
  app.add_flag("--json", arguments->json, "Print one JSON object with the names of all tensors");
  return [arguments] { return run_import(*arguments); };
}

const Registration registered_import(
    {Topic::models,
     "import",
     "Make a model from weights that timm or the authors of a paper published",
     {"cachet import hf:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k -o vit-tiny",
      "cachet import deit_tiny_patch16_224.pth --model deit_tiny_patch16_224 --set model.cache.kind=grc -o deit-cached",
      "cachet import deit_tiny_patch16_224.pth --model deit_tiny_patch16_224 --set model.classes=10 -o deit-ten "
      "--json"},
     declare_import});

}  // namespace
}  // namespace cachet::app
