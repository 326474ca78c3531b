#include "app/training/training_run.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "app/arguments/common_arguments.h"
#include "app/arguments/model_argument.h"
#include "app/arguments/recipe_argument.h"
#include "app/arguments/weights_argument.h"
#include "app/commands/command.h"
#include "app/commands/data/data_look_progress.h"
#include "app/machine/precision_note.h"
#include "cachet/config/resolved_toml.h"
#include "cachet/io/files/folder_path.h"
#include "cachet/report/format.h"
#include "cachet/report/program_name.h"
#include "cachet/tasks/classification/classifies_data.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/memory_estimate.h"
#include "cachet/tasks/part_sizes.h"
#include "cachet/tasks/settled_warmup.h"
#include "cachet/tasks/step_memory.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/data_parallel/part_states.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/memory_limit.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/paper_rows.h"
#include "cachet/train/runs/resume_command.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/seed_folder.h"
#include "cachet/train/runs/stripped_run.h"
#include "cachet/train/step/live_run.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

/// The newest of the folders that new_run_path() named after a recipe, of single runs or of several seeds.
std::optional<fs::path> newest_run(const fs::path& root, const std::string& name, bool several) {
  const std::regex pattern("([0-9]{8})-(.*?)(?:-([0-9]+))?");
  std::optional<fs::path> newest;
  std::pair<std::string, int> newest_key;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(root, unreadable)) {
    const std::string folder = entry.path().filename().string();
    std::smatch match;
    if (!std::regex_match(folder, match, pattern) || match[2] != name || match[3].length() > 6) continue;
    if (train::SeedFolder::is_at(entry.path()) != several) continue;
    const std::pair key(match[1].str(), match[3].matched ? std::stoi(match[3]) : 1);
    if (!newest || key > newest_key) {
      newest = entry.path();
      newest_key = key;
    }
  }
  return newest;
}

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

using KnownMemory = std::optional<tasks::MemoryVerdict>;

void print_tried(const tasks::DryRun& dry, const KnownMemory& memory) {
  const double rate = static_cast<double>(dry.step_samples) / dry.step_seconds;
  print_line("a step", report::format_duration(dry.step_seconds) + " (" + std::to_string(dry.step_samples) +
                           " samples, " + report::format_number(rate, 3) + " a second)");
  print_line("evaluation", report::format_duration(dry.evaluation_seconds));
  print_line("checkpoint", report::format_bytes(static_cast<int64_t>(dry.checkpoint_bytes)) + " in " +
                               report::format_duration(dry.checkpoint_seconds));
  print_line("memory", memory ? memory->text() : report::format_bytes(dry.memory_bytes));
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
  const tasks::DryRun dry = tasks::dry_run(*task, plan.training);
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

/// Nothing if the memory cannot be estimated; whatever is wrong with the recipe is then found by what follows.
KnownMemory memory_of_run(const tasks::RecipePlan& plan, const tasks::MemoryQuestion& question) {
  train::available_bytes();  // throws if kMemoryVariable is not a number
  try {
    return tasks::judge_memory(plan, question);
  } catch (const std::exception&) {
    return std::nullopt;
  }
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
  const tasks::DryRun dry = tasks::dry_run(*task, small.training);
  print_tried(dry, memory);
  const train::TrainOptions& training = plan.training.train;
  const double seconds = dry.step_seconds / static_cast<double>(dry.step_samples);
  const std::string epochs = train::Duration{training.epochs, train::Duration::Unit::epochs}.text();
  const std::string limit = training.limit ? ", at most " + training.limit->text() : "";
  const tasks::TaskPlan::StepSize size = plan.task->step_size(training);
  const std::string more = ", and more memory for steps of " + std::to_string(size.count) + " " + size.unit;
  print_line("whole run", "about " + report::format_duration(1000 * seconds * static_cast<double>(training.epochs)) +
                              " for each 1,000 training " + samples + " (" + epochs + limit + ")" +
                              (memory ? "" : more));
}

}  // namespace

train::WrittenRecipe TrainingJob::written(const config::Document& document) const {
  if (!made) return written_recipe(recipe);
  std::vector<config::Document::Value> values = document.resolved();
  std::erase_if(values, [](const config::Document::Value& value) {
    return value.origin.source == config::kDefaultSource || value.origin.source == kKeptSource;
  });
  const std::string comment = made->text.substr(0, made->text.find('\n') + 1);
  return {made->name, comment + "\n" + config::resolved_toml(values, /*with_origins=*/false)};
}

TrainingJob training_job(const TrainArguments& arguments, bool several) {
  if (fs::is_directory(arguments.target)) {
    const train::RunFolder folder = train::RunFolder::open(arguments.target);
    if (several && !train::SeedFolder::is_at(arguments.target))
      throw UsageError(arguments.target + " is a run of one seed; name the recipe to train with --seeds");
    if (!arguments.run.empty())
      throw UsageError(arguments.target + " is a run, which is resumed in its own folder; leave --run out");
    if (!arguments.resume && !arguments.is_preview())
      throw UsageError(arguments.target + " is a run; resume it with: " + train::resume_command(folder.path()));
    return {folder.resolved(), folder.path(), true};
  }
  const auto job = [&](fs::path run, bool resumes, bool is_named) {
    TrainingJob made{arguments.made ? fs::path() : find_recipe(arguments.target), std::move(run), resumes, is_named};
    made.made = arguments.made;
    return made;
  };
  const std::string name = job({}, false, false).name();
  if (!arguments.run.empty()) {
    const fs::path run = io::without_last_separator(arguments.run);
    const bool resumes = arguments.resume && fs::exists(run);
    if (resumes && several && !train::SeedFolder::is_at(run))
      throw UsageError(arguments.run + " is a run of one seed; resume it without --seeds, or choose another --run");
    return job(run, resumes, /*is_named=*/true);
  }
  if (arguments.resume)
    if (const auto run = newest_run(arguments.runs, name, several)) return job(*run, true, /*is_named=*/true);
  return job(train::new_run_path(arguments.runs, name), false, /*is_named=*/false);
}

io::FolderLock lock_beside(const fs::path& path) {
  const fs::path beside = fs::absolute(path).parent_path();
  std::error_code failed;
  fs::create_directories(beside, failed);
  if (failed) throw std::runtime_error(path.string() + ": cannot be made: " + failed.message());
  if (auto lock = io::FolderLock::take_if_free(beside)) return std::move(*lock);
  std::cerr << "waiting for another process, which has " << beside.string() << " for itself\n";
  return io::FolderLock::wait_for(beside);
}

train::LatestLink latest_link(const TrainArguments& arguments, const fs::path& run) {
  std::error_code absent;
  const fs::path beside = run.has_parent_path() ? run.parent_path() : fs::path(".");
  return fs::equivalent(beside, arguments.runs, absent) ? train::LatestLink::pointed : train::LatestLink::untouched;
}

NewRunPath::NewRunPath(const TrainArguments& arguments, const TrainingJob& job) : path(job.run) {
  if (job.is_named && !arguments.resume) return;
  lock_ = lock_beside(job.run);
  if (!arguments.resume && fs::exists(job.run)) path = train::new_run_path(arguments.runs, job.name());
}

namespace {

/// The values that a resumed run, or a new run of a resumed folder of seeds, has to keep. Another process may be making
/// the run of a seed: until it is there, the values are those of the folder of seeds.
std::optional<train::RecipeValues> earlier_values(const TrainingJob& job, const std::optional<fs::path>& resumed) {
  if (resumed && train::is_run_folder(*resumed)) return train::RunFolder::open(*resumed).values();
  if (job.resumes && train::is_run_folder(job.run)) return train::RunFolder::open(job.run).values();
  return std::nullopt;
}

}  // namespace

namespace {

/// "model.classes=3" if the run starts from weights and its data have another number of classes than the model, which a
/// base recipe may name. The head then starts fresh.
std::optional<std::string> classes_of_data(const tasks::RecipePlan& plan) {
  const auto* classifier = dynamic_cast<const tasks::ClassifiesData*>(plan.task.get());
  if (classifier == nullptr || plan.training.train.init.empty()) return std::nullopt;
  const std::optional<int64_t> classes = classifier->classes_of_data();
  if (!classes || *classes == classifier->classes_of_model()) return std::nullopt;
  return "model.classes=" + std::to_string(*classes);
}

ReadRecipe read_with(const std::string& last, const TrainingJob& job, const TrainArguments& arguments,
                     std::optional<uint64_t> seed, const std::optional<fs::path>& resumed) {
  ReadRecipe recipe{
      job.made ? read_document(*job.made, arguments.settings) : read_document(job.recipe, arguments.settings), {}};
  for (const std::string& setting : arguments.saved_settings) recipe.document.set(setting, kKeptSource);
  for (const std::string& setting : arguments.prepared) recipe.document.set(setting, arguments.source_of_prepared);
  const auto values = earlier_values(job, resumed);
  if (values) train::set_earlier_options(recipe.document, *values);
  if (seed) recipe.document.set("train.seed=" + std::to_string(*seed));
  if (!last.empty()) recipe.document.set(last, kDataSource);
  recipe.plan =
      tasks::read_recipe(recipe.document, data::DataRoot::required, std::max<int64_t>(1, arguments.processes));
  if (!values) return recipe;
  const std::vector<std::string> settled = tasks::settled_warmups(recipe.document, *values);
  if (settled.empty()) return recipe;
  TrainArguments with_counts = arguments;
  with_counts.saved_settings.insert(with_counts.saved_settings.end(), settled.begin(), settled.end());
  return read_with(last, job, with_counts, seed, resumed);
}

}  // namespace

ReadRecipe read_recipe(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                       const std::optional<fs::path>& resumed) {
  ReadRecipe recipe = read_with("", job, arguments, seed, resumed);
  const auto classes = classes_of_data(recipe.plan);
  if (!classes) return recipe;
  ReadRecipe fitting = read_with(*classes, job, arguments, seed, resumed);
  const auto& model = dynamic_cast<const tasks::ClassifiesData&>(*recipe.plan.task);
  const std::string number = std::to_string(*model.classes_of_data());
  fitting.plan.notes.push_back("the recipe has model.classes = " + std::to_string(model.classes_of_model()) +
                               ", and the data have " + number + " classes: the model has " + number);
  return fitting;
}

std::optional<std::string> other_parts_note(const TrainingJob& job, const TrainArguments& arguments,
                                            const tasks::RecipePlan& run) {
  constexpr std::array<std::string_view, 5> kKeys{
      "train.state=", "train.accumulate=", "train.batch_size=", "data.max_tokens=", "data.max_samples="};
  if (!run.training.train.has_parts()) return std::nullopt;
  TrainArguments as_written = arguments;
  std::erase_if(as_written.settings, [&](const std::string& setting) {
    return std::ranges::any_of(kKeys, [&](std::string_view key) { return setting.starts_with(key); });
  });
  const std::optional<fs::path> resumed = job.resumes ? std::optional(job.run) : std::nullopt;
  tasks::RecipePlan recipe = read_recipe(job, as_written, arguments.seed, resumed).plan;
  recipe.training.train.shard.world_size = job.made ? 1 : train::processes_of_recipe(job.recipe);
  return tasks::other_parts_note(run, recipe);
}

namespace {

/// The plan that reads the copies that the run has of files that its recipe names. Its values stay as they were
/// written.
tasks::RecipePlan plan_with_kept_files(const TrainingJob& job, const TrainArguments& arguments,
                                       std::optional<uint64_t> seed, const ReadRecipe& recipe, const fs::path& run) {
  const std::vector<std::string> own = recipe.plan.task->saved_file_settings(run);
  if (own.empty()) return recipe.plan;
  TrainArguments with_own = arguments;
  with_own.saved_settings.insert(with_own.saved_settings.end(), own.begin(), own.end());
  return read_recipe(job, with_own, seed, run).plan;
}

/// Leaves out the keys that a run, or a folder of seeds, of an earlier version does not have: it is resumed as it was
/// made.
void drop_newer_keys(const train::RunFolder& run, std::vector<std::string>& settings) {
  std::erase_if(settings, [&](const std::string& setting) {
    return !run.values().contains(setting.substr(0, setting.find('=')));
  });
}

}  // namespace

ReadRecipe read_recipe_for_run(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                               const std::optional<fs::path>& resumed_run) {
  TrainArguments held = arguments;
  ReadRecipe recipe = read_recipe(job, held, seed, resumed_run);
  const auto plan_of = [&] {
    return resumed_run ? plan_with_kept_files(job, held, seed, recipe, *resumed_run) : recipe.plan;
  };
  tasks::RecipePlan plan = plan_of();
  tasks::SavedFiles keep = plan.task->files_to_keep();
  if (job.resumes) drop_newer_keys(train::RunFolder::open(job.run), keep.settings);
  if (!keep.settings.empty()) {
    held.saved_settings.insert(held.saved_settings.end(), keep.settings.begin(), keep.settings.end());
    recipe = read_recipe(job, held, seed, resumed_run);
    plan = plan_of();
  }
  recipe.plan = std::move(plan);
  recipe.files = std::move(keep.files);
  return recipe;
}

std::optional<std::string> precision_note(const tasks::RecipePlan& plan) {
  const train::TrainOptions& options = plan.training.train;
  if (options.precision != train::Precision::bfloat16 || !train::find_device(options.device).is_cpu())
    return std::nullopt;
  return slow_bfloat16_note();
}

std::vector<std::string> command_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words{report::program_name()};
  std::string word;
  std::getline(file, word, '\0');  // the program, by whatever path
  while (std::getline(file, word, '\0')) words.push_back(word);
  return words;
}

int look_at_training(const TrainArguments& arguments, const TrainingJob& job, const config::Document& document,
                     const tasks::RecipePlan& plan, size_t runs) {
  if (arguments.print) {
    std::cout << document.resolved_toml(/*with_origins=*/true);
    return kDone;
  }
  if (arguments.resume)
    tasks::require_memory(plan.model());
  else
    tasks::require_memory_of_new_run(plan.model());
  print_line("model", plan.model().name);
  print_paper(document);
  if (const auto note = precision_note(plan)) print_line("precision", *note);
  // The dry run itself is of one process; only the number and the size of parts are those of all.
  tasks::RecipePlan spread = plan;
  spread.training.train.shard.world_size = std::max<int64_t>(1, arguments.processes);
  if (arguments.processes > 1)
    print_line("processes", std::to_string(arguments.processes) +
                                "; the times and the memory below are of one process that does the work of all");
  if (const auto note = other_parts_note(job, arguments, spread)) print_line("note", *note);
  const KnownMemory memory = memory_of_run(plan, {.trial = tasks::MemoryTrial::precise});
  if (memory && !memory->fits) throw std::runtime_error(tasks::refusal_text(plan, *memory, arguments.resume));
  if (const auto why = plan.task->absent_data())
    dry_run_without_data(plan, spread, *why, memory);
  else
    dry_run_with_data(plan, spread, runs, arguments.progress, memory);
  return kDone;
}

namespace {

/// Of the weights and the caches alone, whose shapes are known without a step.
void require_memory_of_model(const tasks::RecipePlan& plan, bool resumes) {
  if (resumes)
    tasks::require_memory(plan.model());
  else
    tasks::require_memory_of_new_run(plan.model());
}

}  // namespace

void require_memory_of_run(const tasks::RecipePlan& plan, bool resumes, int64_t processes) {
  if (plan.task->absent_data()) return;
  require_memory_of_model(plan, resumes);
  const KnownMemory memory = memory_of_run(plan, {.processes = std::max<int64_t>(1, processes)});
  if (memory && !memory->fits) throw std::runtime_error(tasks::refusal_text(plan, *memory, resumes));
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
  const auto verdict =
      tasks::judge_memory(plan, {.processes = std::max<int64_t>(1, arguments.processes), .wants_largest = true});
  if (!verdict)
    throw std::runtime_error(
        "--batch-size auto needs a run on the CPU of a system that reports its memory; give a number");
  std::vector<std::string> settings = tasks::settings_that_fit(plan, *verdict);
  report::Progress progress({.mode = progress_mode(arguments.progress)});
  std::string line = "chosen: ";
  for (const std::string& setting : settings) line += (setting == settings.front() ? "" : ", ") + setting;
  if (settings.empty()) line += "the batch of the recipe";
  progress.log(line + "; " + report::format_bytes(verdict->free) + " of memory are free");
  return settings;
}

std::unique_ptr<tasks::Task> task_to_train(const TrainArguments& arguments, const tasks::RecipePlan& plan,
                                           const std::optional<fs::path>& resumed_run) {
  train::find_device(plan.training.train.device);  // before data are opened and a folder is made
  if (resumed_run && train::is_stripped_run(*resumed_run))
    throw std::runtime_error(
        resumed_run->string() +
        ": has only weights, so that the run cannot be resumed; to start a new run from them, set train.init");
  if (resumed_run)
    tasks::require_memory(plan.model());
  else
    tasks::require_memory_of_new_run(plan.model());
  auto task = plan.build();
  if (resumed_run && !train::newest_checkpoints(train::RunFolder::open(*resumed_run).checkpoints()).empty())
    return task;
  report::Progress progress({.mode = progress_mode(arguments.progress)});
  for (const std::string& line : plan.initialize(*task, download_options(arguments.progress))) progress.log(line);
  return task;
}

void settle_length(ReadRecipe& recipe, tasks::Task& task) {
  const int64_t batches = task.batches_per_epoch();
  if (batches < 1) return;  // the trainer reports it
  task.note(tasks::settle_warmups(recipe.document, train::run_length(recipe.plan.training.train, batches).updates));
}

}  // namespace cachet::app
