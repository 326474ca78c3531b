#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/import_json.h"
#include "app/json.h"
#include "app/output.h"
#include "app/recipe_argument.h"
#include "cachet/io/error.h"
#include "cachet/io/safetensors.h"
#include "cachet/tasks/weights/weight_export.h"

namespace cachet::app {
namespace {

struct ExportArguments {
  std::string path, names = "timm";
  OutputArgument output;
  bool json = false;
};

constexpr const char* kSourceKey = "source";  // in the file's metadata

/// Whether the file is an export of the same run or model, be it of another checkpoint.
bool is_export_of(const std::filesystem::path& file, const std::string& source) {
  try {
    const auto metadata = io::read_safetensors(file).metadata;
    const auto found = metadata.find(kSourceKey);
    return found != metadata.end() && found->second == source;
  } catch (const io::Error&) {
    return false;
  }
}

int run_export(const ExportArguments& arguments) {
  const tasks::SavedModel saved = tasks::open_saved_model(arguments.path);
  const std::string& output = arguments.output.path;
  require_file_output(arguments.output,
                      {{".safetensors"}, {}, [&](const auto& file) { return is_export_of(file, saved.source); }});
  const io::TensorMap tensors = tasks::export_weights(saved, *io::name_source(arguments.names));
  // The entry that Python's libraries look for before they load a file.
  io::write_safetensors(output, tensors,
                        {{"format", "pt"}, {"architecture", saved.plan.name}, {kSourceKey, saved.source}});
  if (arguments.json) {
    std::vector<std::string> written;
    for (const auto& [name, tensor] : tensors) written.push_back(name);
    const nlohmann::ordered_json json{{"schema", kSchema},
                                      {"model", saved.plan.name},
                                      {"names", arguments.names},
                                      {"tensors", written},
                                      {"output", output}};
    std::cout << json.dump(2) << '\n';
    return kDone;
  }
  std::cout << tensors.size() << " tensors of " << saved.plan.name << " under the names of " << arguments.names << '\n'
            << output << '\n';
  return kDone;
}

Action declare_export(CLI::App& app) {
  auto arguments = std::make_shared<ExportArguments>();
  app.add_option("RUN", arguments->path, "A run's folder, whose best checkpoint counts, a checkpoint's or a model's")
      ->required()
      ->type_name("");
  add_names_option(app, "--names", arguments->names, "Whose names to give the tensors (timm)");
  add_output(app, arguments->output, "The safetensors file to write")->required();
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_export(*arguments); };
}

const Registration registered_export({Topic::models,
                                      "export",
                                      "Write a model's weights under the names of timm or a paper's authors",
                                      {"cachet export my-run -o deit.safetensors",
                                       "cachet export my-run --names cachet -o own.safetensors --json"},
                                      declare_export});

}  // namespace
}  // namespace cachet::app
