#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/json.h"
#include "app/output.h"
#include "app/weights_output.h"
#include "cachet/io/safetensors.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/checkpoint_mean.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct AverageArguments {
  std::string run;
  int64_t last = 10;
  OutputArgument output;
  bool json = false;
};

int run_average(const AverageArguments& arguments) {
  const train::CheckpointMean mean = tasks::mean_of_last_checkpoints(arguments.run, arguments.last);
  std::string output = arguments.output.path;
  if (output.empty()) {
    output = tasks::mean_folder(arguments.run, arguments.last).string();
    train::write_weights_checkpoint(output, mean.weights, mean.state, mean.run);
  } else {
    const std::string source = "run " + mean.run;
    require_file_output(arguments.output,
                        {{".safetensors"}, {}, [&](const fs::path& file) { return holds_weights_of(file, source); }});
    const std::string architecture = tasks::read_saved_plan(arguments.run).model().name;
    io::write_safetensors(output, mean.weights, weights_metadata(architecture, source));
  }
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", kSchema}, {"steps", mean.steps}, {"output", output}};
    print_json(json);
    return kDone;
  }
  std::cout << "mean of " << mean.steps.size() << " checkpoints, steps " << mean.steps.front() << " to "
            << mean.steps.back() << '\n'
            << output << '\n';
  return kDone;
}

Action declare_average(CLI::App& app) {
  auto arguments = std::make_shared<AverageArguments>();
  app.add_option("RUN", arguments->run, "A run's folder")->required()->type_name("");
  app.add_option("--last", arguments->last,
                 "How many of its newest checkpoints (10); train.keep says how many there are")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  add_output(
      app, arguments->output,
      "A .safetensors file for the weights (a checkpoint in the run, checkpoints/mean-10, which eval, predict and "
      "others take)");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_average(*arguments); };
}

const Registration registered_average({Topic::models,
                                       "average",
                                       "Average the weights of a run's last checkpoints",
                                       {"cachet average my-run --last 10",
                                        "cachet average my-run --last 5 -o mean.safetensors"},
                                       declare_average});

}  // namespace
}  // namespace cachet::app
