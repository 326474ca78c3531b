#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "app/output/weights_output.h"
#include "cachet/config/counted.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/averaged_weights.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/step/recalibration.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct AverageArguments {
  SavedRunArgument run;
  int64_t last = 10;
  bool moving = false;   // the run's moving average instead
  int64_t renewing = 0;  // micro-batches of training
  OutputArgument output;
  std::string progress = "auto";
  bool json = false;
};

/// The weights, with the states that batches of training make by them.
io::TensorMap renewed(const io::TensorMap& weights, const AverageArguments& arguments) {
  const tasks::SavedRun saved = tasks::open_saved_run(arguments.run.path, arguments.run.all_settings());
  require_data(saved, arguments.run);
  const c10::Device device = device_named(arguments.run.device);
  if (saved.lack) throw io::Error(*saved.lack);
  const auto task = saved.plan.build();
  io::load_state_dict(task->model(), weights, {.conversion = io::LoadPolicy::Conversion::kNone});
  train::place(task->model(), device);
  CountedProgress progress("renewing", arguments.progress);
  const train::TrainOptions& training = saved.plan.training.train;
  const auto show = [&](int64_t passed) { progress.show(passed, arguments.renewing); };
  train::recalibrate(*task, training.precision, arguments.renewing, show, training.shard.parts);
  progress.finish();
  io::TensorMap all;
  for (const auto& [name, tensor] : io::state_dict(task->model())) all.emplace(name, tensor.cpu());
  return all;
}

int run_average(const AverageArguments& arguments) {
  const std::string& run = arguments.run.path;
  train::CheckpointMean mean =
      arguments.moving ? tasks::newest_moving_average(run) : tasks::mean_of_last_checkpoints(run, arguments.last);
  const std::string source = "run " + mean.run;
  const bool in_run = arguments.output.path.empty();
  if (!in_run)
    require_file_output(arguments.output,
                        {{".safetensors"}, {}, [&](const fs::path& file) { return holds_weights_of(file, source); }});
  if (arguments.renewing > 0) mean.weights = renewed(mean.weights, arguments);
  const std::string in_folder =
      (arguments.moving ? tasks::moving_average_folder(run) : tasks::mean_folder(run, arguments.last)).string();
  const std::string output = in_run ? in_folder : arguments.output.path;
  if (in_run) {
    train::write_weights_checkpoint(output, mean.weights, mean.state, mean.run);
  } else {
    const std::string architecture = tasks::read_saved_plan(run).model().name;
    io::write_safetensors(output, mean.weights, weights_metadata(architecture, source));
  }
  if (arguments.json) {
    nlohmann::ordered_json json{{"schema", kSchema}, {"steps", mean.steps}, {"output", output}};
    if (arguments.renewing > 0) json["renewing_batches"] = arguments.renewing;
    print_json(json);
    return kDone;
  }
  if (arguments.moving)
    std::cout << "moving average at step " << mean.steps.front();
  else
    std::cout << "mean of " << mean.steps.size() << " checkpoints, steps " << mean.steps.front() << " to "
              << mean.steps.back();
  if (arguments.renewing > 0)
    std::cout << ", with statistics and caches recomputed from "
              << config::counted(arguments.renewing, "batch", "batches");
  std::cout << '\n' << output << '\n';
  return kDone;
}

Action declare_average(CLI::App& app) {
  auto arguments = std::make_shared<AverageArguments>();
  add_saved_model(app, arguments->run, "Folder of a run");
  add_device_option(app, arguments->run.device);
  CLI::Option* last = add_number(app, "--last", arguments->last,
                                 "Number of the run's newest checkpoints to average (default: 10). A run keeps only as "
                                 "many checkpoints as its key train.keep allows",
                                 {1, 1'000'000})
                          ->type_name("N");
  app.add_flag(
         "--ema", arguments->moving,
         "Use the moving average (train.ema_decay) that is in the newest checkpoint, instead of a mean of checkpoints")
      ->excludes(last);
  CLI::Option* renewing = add_number(app, "--renew-states", arguments->renewing,
                                     "Recompute running statistics and caches from N training batches, instead of "
                                     "using the statistics and caches of the last checkpoint",
                                     {1, 1'000'000'000})
                              ->type_name("N");
  for (const char* of_data : {"--data", "--set", "--device"}) app.get_option(of_data)->needs(renewing);
  add_progress_option(app, arguments->progress);
  add_output(app, arguments->output,
             "A .safetensors file for the weights. Without this option, the weights become a checkpoint of the run, "
             "such as checkpoints/mean-10 or checkpoints/ema, which eval, predict and other commands accept");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_average(*arguments); };
}

const Registration registered_average({Topic::models,
                                       "average",
                                       "Average the weights of a run's last checkpoints",
                                       {"cachet average my-run --last 10",
                                        "cachet average my-run --last 5 -o mean.safetensors",
                                        "cachet average my-run --ema --renew-states 200"},
                                       declare_average});

}  // namespace
}  // namespace cachet::app
