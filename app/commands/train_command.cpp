#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/commands/data/data_location.h"
#include "app/machine/library_log.h"
#include "app/training/own_data.h"
#include "app/training/train_seeds.h"
#include "app/training/training_memory.h"
#include "app/training/training_preview.h"
#include "app/training/training_processes.h"
#include "app/training/training_task.h"
#include "app/training/weights_preparation.h"
#include "cachet/nn/base/synced_module.h"
#include "cachet/processes/rendezvous.h"
#include "cachet/report/format.h"
#include "cachet/train/data_parallel/joint_training.h"
#include "cachet/train/data_parallel/part_counts.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/interruption.h"
#include "cachet/train/runs/resume_rules.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/seed_folder.h"
#include "cachet/train/trainer.h"

namespace cachet::app {
namespace {

train::RunFolder make_run_folder(const TrainArguments& arguments, const TrainingJob& job, const ReadRecipe& recipe) {
  if (job.resumes) return train::RunFolder::resume(job.run, recipe.document, command_words());
  const NewRunPath run(arguments, job);
  if (arguments.resume && train::is_run_folder(run.path))  // of another process, since this one looked
    return train::RunFolder::resume(run.path, recipe.document, command_words());
  return train::RunFolder::create(run.path, job.written(recipe.document), recipe.document, command_words(),
                                  recipe.files, latest_link(arguments, run.path));
}

int say_outcome(const train::Outcome& outcome, const train::RunFolder& folder) {
  const int code = outcome.exit_code();
  if (code == kFailed) throw std::runtime_error(outcome.message);
  if (!outcome.message.empty()) std::cerr << outcome.message << '\n';
  if (code != kDone) return code;
  std::cout << "step " << outcome.step << ", " << report::format_duration(outcome.seconds);
  if (!outcome.result.empty()) std::cout << ", " << outcome.result;
  std::cout << '\n' << folder.report().string() << '\n';
  return code;
}

struct Prepared {
  ReadRecipe recipe;
  std::unique_ptr<tasks::Task> task;
};

/// Before a run's folder is made or changed. Throws std::runtime_error if another process has another recipe, other
/// data or another version.
void require_common_ground(const Prepared& prepared, bool resumes, processes::ProcessGroup& processes) {
  train::RecipeValues values = train::recipe_values(prepared.recipe.document);
  // A run may be resumed where its data lie elsewhere; which data they are is compared.
  if (resumes) std::erase_if(values, [](const auto& value) { return train::is_place_of_data(value.first); });
  const train::TrainOptions& training = prepared.recipe.plan.training.train;
  train::agree({train::config_hash(values), train::find_device(training.device).type(), prepared.task->data_digests(),
                training.accumulate},
               processes);
}

/// The recipe and the task of a job, for this process's part of the batches. Reads the recipe if it is not given.
Prepared prepare(const TrainArguments& arguments, const TrainingJob& job, std::optional<ReadRecipe> recipe,
                 const TrainingProcesses& processes) {
  if (!recipe) recipe = read_recipe_for_run(job, arguments, arguments.seed, resumed_run(job));
  Prepared prepared{std::move(*recipe), nullptr};
  processes.share_out(prepared.recipe.plan.training);
  prepared.task = task_to_train(arguments, prepared.recipe.plan, resumed_run(job));
  if (!job.resumes) settle_length(prepared.recipe, *prepared.task);
  if (processes.all()) {
    if (!prepared.recipe.plan.training.train.has_parts())
      nn::use_batch_reducer(prepared.task->model(), processes.all());
    require_common_ground(prepared, job.resumes, *processes.all());
  }
  return prepared;
}

/// Trains as a worker: rank 0, another process, has the run's folder and prints the messages.
int run_worker(const TrainArguments& arguments, TrainingJob job, const TrainingProcesses& processes, LibraryLog& log) {
  const std::string run = processes.all()->broadcast(std::string());
  job.resumes = !run.empty();
  if (job.resumes) job.run = run;
  const Prepared prepared = prepare(arguments, job, /*recipe=*/std::nullopt, processes);
  log.write_to(std::filesystem::path(processes.all()->broadcast(std::string())), processes.all()->rank());
  const std::string hash = job.resumes ? train::RunFolder::open(job.run).config_hash()
                                       : train::config_hash(train::recipe_values(prepared.recipe.document));
  const tasks::RecipePlan& plan = prepared.recipe.plan;
  bool is_interrupted = false;
  with_smaller_batch(plan, job.resumes, processes.count(),
                     [&] { is_interrupted = train::run_worker(*prepared.task, plan.training, hash, processes.all()); });
  return is_interrupted ? train::Interruption::exit_code() : kDone;
}

/// Trains alone, or as rank 0. `known` is the recipe if it was read already.
int lead(const TrainArguments& arguments, const TrainingJob& job, std::optional<ReadRecipe> known,
         const TrainingProcesses& processes, LibraryLog& log) {
  if (processes.all()) processes.all()->broadcast(job.resumes ? std::filesystem::absolute(job.run).string() : "");
  const Prepared prepared = prepare(arguments, job, std::move(known), processes);
  const ReadRecipe& recipe = prepared.recipe;
  if (job.resumes)
    train::require_parts_of_newest(train::RunFolder::open(job.run).checkpoints(), recipe.plan.training.train);
  const auto parts_note = other_parts_note(job, arguments, recipe.plan);  // a resume changes the recipe in the folder
  train::RunFolder folder = make_run_folder(arguments, job, recipe);
  if (processes.all()) {
    processes.all()->broadcast(std::filesystem::absolute(folder.log()).string());
    log.write_to(folder.log(), /*rank=*/0);
  }
  report::Progress progress({.mode = progress_mode(arguments.progress)});
  progress.log((job.resumes ? "resuming " : "training in ") + folder.path().string() + where_data_lie(recipe.plan));
  if (const auto note = unused_gpu_note(recipe.plan)) progress.log(*note);
  if (const auto note = precision_note(recipe.plan)) progress.log(*note);
  if (parts_note) progress.log(*parts_note);
  train::Trainer trainer(*prepared.task, recipe.plan.training, folder, &progress, processes.all());
  train::Outcome outcome;
  with_smaller_batch(recipe.plan, job.resumes, processes.count(), [&] { outcome = trainer.run(); });
  return say_outcome(outcome, folder);
}

/// Whether this is one of several processes that another process or program started (`--processes`, torchrun).
bool is_started_with_others() {
  const auto place = processes::place_from_environment();
  return place && place->size > 1;
}

/// Throws std::runtime_error if some of the processes would have no sample of a batch.
void require_samples_for_all(const TrainArguments& arguments, const tasks::RecipePlan& plan) {
  const int64_t batch = plan.training.train.batch_size;
  if (batch < arguments.processes)
    throw std::runtime_error("the batch size is " + std::to_string(batch) +
                             ", which is smaller than the number of processes, " + std::to_string(arguments.processes) +
                             "; start fewer processes, or raise train.batch_size");
}

int train_one(const TrainArguments& asked) {
  const TrainingJob job = training_job(asked, /*several=*/false);
  TrainArguments arguments = with_preparation_of_weights(asked, job);
  if (arguments.is_preview()) {
    const ReadRecipe recipe = read_recipe(job, arguments, arguments.seed, resumed_run(job));
    require_samples_for_all(arguments, recipe.plan);
    return preview_training(arguments, job, recipe.document, recipe.plan, /*runs=*/1);
  }
  LibraryLog log;
  // If another process or program started this one, the recipe is read after all processes have met: a failure then
  // reaches all of them.
  std::optional<ReadRecipe> recipe;
  if (!is_started_with_others()) {
    recipe = read_recipe_for_run(job, arguments, arguments.seed, resumed_run(job));
    require_samples_for_all(arguments, recipe->plan);
    if (!arguments.fitting_batch) require_memory_of_run(recipe->plan, job.resumes, arguments.processes);
  }
  TrainingProcesses processes(arguments.processes, arguments.chosen);
  arguments.processes = processes.count();
  try {
    return processes.follows() ? run_worker(arguments, job, processes, log)
                               : lead(arguments, job, std::move(recipe), processes, log);
  } catch (const std::exception& error) {
    processes.fail(error);
    throw;
  }
}

/// What is resumed may hold several seeds without --seeds on the command line.
bool means_seeds(const TrainArguments& arguments) {
  return !arguments.seeds.empty() || train::SeedFolder::is_at(arguments.target) ||
         (arguments.resume && !arguments.run.empty() && train::SeedFolder::is_at(arguments.run));
}

/// The arguments with the settings of --batch-size auto. A process that --processes started gets them from the first.
TrainArguments with_fitting_batch(const TrainArguments& asked) {
  if (TrainingProcesses::started_this()) return asked;
  if (is_started_with_others())
    throw UsageError(
        "--batch-size auto does not work if another program starts the processes; give a number, or use --processes");
  const TrainingJob job = training_job(asked, means_seeds(asked));
  TrainArguments arguments = with_preparation_of_weights(asked, job);
  arguments.chosen = fitting_batch_settings(job, arguments);
  arguments.settings.insert(arguments.settings.end(), arguments.chosen.begin(), arguments.chosen.end());
  return arguments;
}

int run_train(const TrainArguments& asked, const ShortOptions& options) {
  TrainArguments arguments = with_own_data(asked, options);
  if (!arguments.run.empty() && arguments.runs != TrainArguments().runs && !arguments.resume && is_first_process())
    std::cerr << "note: --run gives the folder of the run, so --runs does not change it\n";
  if (arguments.fitting_batch) arguments = with_fitting_batch(arguments);
  if (arguments.processes > 1 && means_seeds(arguments))
    throw UsageError(
        "--processes works only with a single run, but --seeds trains several runs; leave one of the two out");
  return means_seeds(arguments) ? train_seeds(arguments).code : train_one(arguments);
}

Action declare_train(CLI::App& app) {
  auto arguments = std::make_shared<TrainArguments>();
  auto options = std::make_shared<ShortOptions>();
  app.add_option("RECIPE", arguments->target,
                 "Name or file of a recipe (see `cachet recipes`), or the folder of a run. With --data, you can also "
                 "give a model (see `cachet models`) or weights of the hub (hf:OWNER/NAME)")
      ->required()
      ->type_name("");
  add_short_options(app, *options);
  add_recipe_settings(app, arguments->settings);
  app.add_flag("--resume", arguments->resume, "Resume the given run, or the newest run of the given recipe");
  app.add_option("--run", arguments->run, "Folder of the run (default: RUNS/<date>-<recipe>)")->type_name("FOLDER");
  app.add_option("--runs", arguments->runs, "RUNS, the folder in which new runs are created (default: runs)")
      ->type_name("FOLDER");
  add_number(app, "--seed", arguments->seed, "Random seed of the run; the same as --set train.seed=N",
             {0, train::kGreatestSeed})
      ->type_name("N");
  app.add_option("--seeds", arguments->seeds,
                 "Train once for each seed, in one folder. Give the number of seeds, such as 5, or a list of seeds, "
                 "such as 1,4,7")
      ->type_name("N|A,B,...");
  add_number(app, "--processes", arguments->processes,
             "Train in N processes on this machine. Each process takes a part of every batch; train.batch_size is the "
             "size of the whole batch",
             {1, 4096})
      ->type_name("N");
  app.add_flag("--print", arguments->print, "Print the recipe that would run, with the origin of each value, and exit");
  app.add_flag("--dry-run", arguments->dry_run,
               "Try a step, an evaluation and a checkpoint, estimate the time and memory of the run, and exit. The "
               "command uses your data, or synthetic samples if the data are missing");
  add_progress_option(app, arguments->progress);
  return [arguments, options] { return run_train(*arguments, *options); };
}

const Registration registered_train({Topic::runs,
                                     "train",
                                     "Train a recipe, train a model on your data, or resume a run",
                                     {"cachet train demo_plain --set train.limit='20 steps' --run my-run",
                                      "cachet train vit_tiny_patch16_224 --data photos --epochs 5",
                                      "cachet train my-run --resume --set train.limit='30 steps' --processes 2",
                                      "cachet train demo_cached --set train.limit='4 steps' --seeds 3 --run my-seeds"},
                                     declare_train});

}  // namespace
}  // namespace cachet::app
