#include "app/training/training_memory.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "app/arguments/common_arguments.h"
#include "cachet/report/text/progress.h"
#include "cachet/tasks/gpu_batch.h"
#include "cachet/tasks/step_memory.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/machine/gpu_problem.h"
#include "cachet/train/machine/memory_limit.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {

namespace {

/// Prints why nothing follows for some seconds.
void announce_measurement() {
  std::cout << std::flush;
  report::Progress().log("measuring the memory of a training step");
}

void announce_measurement_on_cpu(const tasks::RecipePlan& plan) {
  if (train::find_device(plan.training.train.device).is_cpu()) announce_measurement();
}

/// The second line of the error, or an empty text.
std::string advice_on_batch(const tasks::RecipePlan& plan, const train::GpuMemoryError& error, bool resumes,
                            int64_t processes) {
  announce_measurement();
  try {
    const auto text = tasks::smaller_batch_text(plan, error, processes, resumes);
    return text ? "\n" + *text : "";
  } catch (const std::exception&) {  // the first line remains
    return "";
  }
}

}  // namespace

KnownMemory memory_of_run(const tasks::RecipePlan& plan, const tasks::MemoryQuestion& question) {
  train::available_bytes();  // throws if kMemoryVariable is not a number
  try {
    if (question.trial == tasks::MemoryTrial::precise) announce_measurement_on_cpu(plan);
    return tasks::judge_memory(plan, question);
  } catch (const std::exception&) {
    return std::nullopt;  // if the recipe is wrong, the next steps report it
  }
}

void require_memory_of_model(const tasks::RecipePlan& plan, bool resumes) {
  if (resumes)
    tasks::require_memory(plan.model());
  else
    tasks::require_memory_of_new_run(plan.model());
}

void require_fit(const tasks::RecipePlan& plan, const KnownMemory& memory, bool resumes) {
  if (!memory || memory->fits) return;
  try {
    const train::AllocationLimit limit(memory->free / memory->processes);
    if (!resumes && !plan.task->absent_data()) plan.build();
  } catch (const std::invalid_argument&) {
    throw;
  } catch (const std::exception&) {  // the data are too large for the memory, too
  }
  throw std::runtime_error(tasks::refusal_text(plan, *memory, resumes));
}

void require_memory_of_run(const tasks::RecipePlan& plan, bool resumes, int64_t processes) {
  if (plan.task->absent_data()) return;
  require_memory_of_model(plan, resumes);
  const KnownMemory memory = memory_of_run(plan, {.processes = std::max<int64_t>(1, processes)});
  require_fit(plan, memory, resumes);
}

void with_smaller_batch(const tasks::RecipePlan& plan, bool resumes, int64_t processes,
                        const std::function<void()>& train) {
  try {
    train();
  } catch (const c10::Error& error) {
    const auto memory = train::read_gpu_memory_error(error.what_without_backtrace());
    if (!memory) throw;
    throw std::runtime_error(train::error_message(error) + advice_on_batch(plan, *memory, resumes, processes));
  }
}

std::vector<std::string> fitting_batch_settings(const TrainingJob& job, const TrainArguments& arguments) {
  if (job.resumes) {
    std::vector<std::string> settings;
    const train::RecipeValues values = train::RunFolder::open(job.run).values();
    for (const char* key :
         {"train.batch_size", "data.max_tokens", "data.max_samples", "train.accumulate", "train.state"})
      if (const auto found = values.find(key); found != values.end())
        settings.push_back(found->first + "=" + found->second);
    return settings;
  }
  const tasks::RecipePlan plan = read_recipe(job, arguments, arguments.seed).plan;
  require_memory_of_model(plan, /*resumes=*/false);
  announce_measurement_on_cpu(plan);
  const auto verdict =
      tasks::judge_memory(plan, {.processes = std::max<int64_t>(1, arguments.processes), .wants_largest = true});
  if (!verdict)
    throw std::runtime_error(
        "--batch-size auto works only on the CPU of a system that reports its memory; give a number");
  std::vector<std::string> settings = tasks::settings_that_fit(plan, *verdict);
  report::Progress progress({.mode = progress_mode(arguments.progress)});
  std::string line = "chosen: ";
  for (const std::string& setting : settings) line += (setting == settings.front() ? "" : ", ") + setting;
  progress.log(settings.empty() ? "chosen: the batch of the recipe, because it fits into memory" : line);
  return settings;
}

}  // namespace cachet::app
