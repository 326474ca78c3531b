#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "app/output/weights_output.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/stripped_run.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCleanSuffix = ".safetensors";

struct CleanArguments {
  std::string checkpoint;
  OutputArgument output;
  bool json = false;
};

bool is_cleaned_run(const fs::path& folder, const std::string& run_id) {
  return train::is_stripped_run(folder) && train::RunFolder::open(folder).id() == run_id;
}

int run_clean(const CleanArguments& arguments) {
  const std::string& output = arguments.output.path;
  const bool to_file = fs::path(output).extension() == kCleanSuffix;
  const tasks::SavedRun saved = tasks::open_saved_run(arguments.checkpoint);
  if (saved.exported || tasks::is_model_folder(saved.checkpoint))
    throw UsageError(arguments.checkpoint + " already has only weights; give a run or a checkpoint of a run");
  const std::string id = train::RunFolder::open(saved.run).id();
  const io::TensorMap weights = tasks::read_weights(saved);
  if (to_file) {
    const std::string source = "run " + id;
    require_file_output(arguments.output,
                        {{}, {}, [&](const fs::path& file) { return holds_weights_of(file, source); }});
    io::write_safetensors(output, weights, weights_metadata(saved.plan.model().name, source));
  } else {
    require_folder_output(arguments.output,
                          {{}, {saved.run}, [&](const fs::path& folder) { return is_cleaned_run(folder, id); }},
                          train::is_stripped_run);
    train::write_stripped_run(saved.run, saved.checkpoint, output, fs::exists(output));
  }
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", kSchema},
                                      {"checkpoint", saved.checkpoint.string()},
                                      {"tensors", weights.size()},
                                      {"output", output}};
    print_json(json);
    return kDone;
  }
  std::cout << weights.size() << " tensors of " << saved.checkpoint.string() << '\n' << output << '\n';
  return kDone;
}

Action declare_clean(CLI::App& app) {
  auto arguments = std::make_shared<CleanArguments>();
  app.add_option("CHECKPOINT", arguments->checkpoint,
                 "A run (its best checkpoint, or its last if there is no best) or a checkpoint of a run. If the "
                 "checkpoint has averaged weights, the command uses the averaged weights")
      ->required()
      ->type_name("");
  add_output(app, arguments->output,
             "Output path. If the path ends in .safetensors, the command writes a file of weights. Otherwise the "
             "command writes a folder without the optimizer's state and the logs, which every command accepts as a run",
             "FILE")
      ->required();
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_clean(*arguments); };
}

const Registration registered_clean(
    {Topic::models,
     "clean",
     "Write the weights of a checkpoint to a new file or folder, without the state of the training",
     {"cachet clean my-run -o my-model", "cachet clean my-run/checkpoints/mean-10 -o weights.safetensors"},
     declare_clean});

}  // namespace
}  // namespace cachet::app
