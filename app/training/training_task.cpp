#include "app/training/training_task.h"

#include <stdexcept>

#include "app/arguments/common_arguments.h"
#include "app/arguments/weights_argument.h"
#include "app/machine/precision_note.h"
#include "app/training/training_memory.h"
#include "cachet/report/text/progress.h"
#include "cachet/tasks/settled_warmup.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/gpu_problem.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/stripped_run.h"
#include "cachet/train/step/live_run.h"

namespace cachet::app {

namespace fs = std::filesystem;

std::unique_ptr<tasks::Task> task_to_train(const TrainArguments& arguments, const tasks::RecipePlan& plan,
                                           const std::optional<fs::path>& resumed) {
  train::find_device(plan.training.train.device);  // before data are opened and a folder is made
  if (resumed && train::is_stripped_run(*resumed))
    throw std::runtime_error(
        resumed->string() +
        ": this run has only weights, so it cannot be resumed; to start a new run from these weights, set train.init");
  require_memory_of_model(plan, resumed.has_value());
  auto task = plan.build();
  if (resumed && !train::newest_checkpoints(train::RunFolder::open(*resumed).checkpoints()).empty()) return task;
  report::Progress progress({.mode = progress_mode(arguments.progress)});
  for (const std::string& line : plan.initialize(*task, download_options(arguments.progress))) progress.log(line);
  return task;
}

void settle_length(ReadRecipe& recipe, tasks::Task& task) {
  const int64_t batches = task.batches_per_epoch();
  if (batches < 1) return;  // the trainer reports it
  task.note(tasks::settle_warmups(recipe.document, train::run_length(recipe.plan.training.train, batches).updates));
}

std::optional<std::string> unused_gpu_note(const tasks::RecipePlan& plan) {
  const train::DeviceChoice& choice = plan.training.train.device;
  if (choice.kind != train::DeviceChoice::Kind::automatic || !train::find_device(choice).is_cpu()) return std::nullopt;
  const auto driver = train::query_gpu_driver();
  if (!driver || driver->gpus.empty()) return std::nullopt;
  const auto problem = train::gpu_problem(train::cuda_build(), driver);
  return problem ? std::optional("the run uses the CPU: " + *problem) : std::nullopt;
}

std::optional<std::string> precision_note(const tasks::RecipePlan& plan) {
  const train::TrainOptions& options = plan.training.train;
  if (options.precision != train::Precision::bfloat16 || !train::find_device(options.device).is_cpu())
    return std::nullopt;
  return slow_bfloat16_note();
}

}  // namespace cachet::app
