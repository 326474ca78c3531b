#include "app/training/training_preview.h"

#include <iostream>
#include <stdexcept>
#include <utility>

#include "app/commands/command.h"
#include "app/commands/data/data_look_progress.h"
#include "app/training/training_memory.h"
#include "app/training/training_task.h"
#include "cachet/report/format.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/part_sizes.h"
#include "cachet/train/data_parallel/part_states.h"
#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/runs/paper_rows.h"

namespace cachet::app {
namespace {

void print_line(const std::string& what, const std::string& value) {
  std::cout << what << std::string(14 - what.size(), ' ') << value << '\n';
}

/// The row of a paper that the recipe trains, and how the experiment differs from the paper's.
void print_paper(const config::Document& document) {
  const auto paper = train::paper_rows_of(train::recipe_values(document));
  if (!paper) return;
  std::string what = "paper";
  const auto print = [&](const std::string& line) { print_line(std::exchange(what, ""), line); };
  for (const train::PaperRow& row : paper->rows) print(train::paper_row_text(row));
  if (const auto runs = train::several_runs_text(*paper)) print(*runs);
  for (const std::string& difference : paper->differs)
    print(difference.starts_with("Our choice") ? difference : "Differs: " + difference);
  if (const auto changed = train::changed_keys_text(*paper)) print(*changed);
}

void print_tried(const tasks::DryRun& dry, const KnownMemory& memory) {
  const double rate = static_cast<double>(dry.step_samples) / dry.step_seconds;
  print_line("a step", report::format_duration(dry.step_seconds) + " (" + std::to_string(dry.step_samples) +
                           " samples, " + report::format_number(rate, 3) + " a second)");
  print_line("evaluation", report::format_duration(dry.evaluation_seconds));
  print_line("checkpoint", report::format_bytes(static_cast<int64_t>(dry.checkpoint_bytes)) + " in " +
                               report::format_duration(dry.checkpoint_seconds));
  print_line("memory", memory ? memory->text() : report::format_bytes(dry.memory_bytes));
  if (!dry.graphs.empty()) print_line("graphs", dry.graphs);
}

/// How steps are cut into parts with states of their own, and what the copies of the model's state take.
void print_parts(const tasks::RecipePlan& plan, const torch::nn::Module& model) {
  const std::optional<std::string> text = tasks::part_sizes_text(plan);
  if (!text) return;
  const int64_t bytes = train::part_state_bytes(model, plan.training.train).in_memory;
  print_line("parts", *text + "; " + (bytes == 0 ? "no" : report::format_bytes(bytes) + " for") +
                          " copies of the model's state");
}

void dry_run_with_data(const tasks::RecipePlan& plan, const tasks::RecipePlan& spread, size_t runs,
                       const std::string& progress, const KnownMemory& memory) {
  const auto task = plan.build();
  plan.initialize(*task);
  print_parts(spread, task->model());
  const tasks::DryRun dry = tasks::dry_run(*task, plan.training, spread.training.train.shard.world_size);
  print_tried(dry, memory);
  print_line("whole run", "about " + report::format_duration(dry.total_seconds()) + " (" +
                              std::to_string(dry.total_steps) + " steps, " + std::to_string(dry.evaluations) +
                              (dry.evaluations == 1 ? " evaluation)" : " evaluations)"));
  if (const auto note = train::slow_decay_note(train::average_options(plan.training.train), dry.total_steps))
    print_line("averages", *note);
  for (const std::string& note : dry.notes) print_line("note", note);
  if (const auto text = tasks::overlap_text(look_at_data(*plan.task, progress))) print_line("shared data", *text);
  if (runs > 1)
    print_line("all seeds", "about " + report::format_duration(static_cast<double>(runs) * dry.total_seconds()) + " (" +
                                std::to_string(runs) + " runs)");
}

/// The duration of training is unknown without the number of images; the duration for some images can be estimated.
void dry_run_without_data(const tasks::RecipePlan& plan, const tasks::RecipePlan& spread, const std::string& why,
                          const KnownMemory& memory) {
  const tasks::RecipePlan small = tasks::reduced(plan);
  const int64_t batch = small.training.train.batch_size;
  print_line("data", why);
  for (const std::string& note : plan.notes) print_line("note", note);
  const auto task = small.build(tasks::Splits::synthetic);
  const std::string samples = task->sample_words().many;
  print_line(
      "", "Synthetic " + samples + " instead: " + std::to_string(batch) + " a batch, " + plan.model().input.text + ".");
  small.initialize(*task);
  print_parts(spread, task->model());
  const tasks::DryRun dry = tasks::dry_run(*task, small.training, spread.training.train.shard.world_size);
  print_tried(dry, memory);
  const train::TrainOptions& training = plan.training.train;
  const double seconds = dry.step_seconds / static_cast<double>(dry.step_samples);
  const std::string epochs = train::Duration{training.epochs, train::Duration::Unit::epochs}.text();
  const std::string limit = training.limit ? ", at most " + training.limit->text() : "";
  const tasks::TaskPlan::StepSize size = plan.task->step_size(training);
  const std::string more =
      "; the run needs more memory, because its steps have " + std::to_string(size.count) + " " + size.unit;
  print_line("whole run", "about " + report::format_duration(1000 * seconds * static_cast<double>(training.epochs)) +
                              " for each 1,000 training " + samples + " (" + epochs + limit + ")" +
                              (memory ? "" : more));
}

}  // namespace

int preview_training(const TrainArguments& arguments, const TrainingJob& job, const config::Document& document,
                     const tasks::RecipePlan& plan, size_t runs) {
  if (arguments.print) {
    std::cout << document.resolved_toml(/*with_origins=*/true);
    return kDone;
  }
  require_memory_of_model(plan, arguments.resume);
  print_line("model", plan.model().name);
  print_paper(document);
  if (const auto note = unused_gpu_note(plan)) print_line("device", *note);
  if (const auto note = precision_note(plan)) print_line("precision", *note);
  // The dry run itself is of one process; only the number and the size of parts are those of all.
  tasks::RecipePlan spread = plan;
  spread.training.train.shard.world_size = std::max<int64_t>(1, arguments.processes);
  if (arguments.processes > 1)
    print_line("processes",
               std::to_string(arguments.processes) +
                   "; the times and the memory below are for one process that does the work of all processes");
  if (const auto note = other_parts_note(job, arguments, spread)) print_line("note", *note);
  const KnownMemory memory = memory_of_run(plan, {.trial = tasks::MemoryTrial::precise});
  require_fit(plan, memory, arguments.resume);
  if (const auto why = plan.task->absent_data())
    dry_run_without_data(plan, spread, *why, memory);
  else
    dry_run_with_data(plan, spread, runs, arguments.progress, memory);
  return kDone;
}

}  // namespace cachet::app
