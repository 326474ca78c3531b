#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>

#include "app/command.h"
#include "app/recipe_argument.h"
#include "cachet/io/read_file.h"
#include "cachet/report/format.h"
#include "cachet/report/progress.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/run_folder.h"
#include "cachet/train/trainer.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  std::string target;
  std::vector<std::string> settings;
  std::string run, runs = "runs", progress = "auto";
  std::optional<uint64_t> seed;
  bool resume = false, print = false, dry_run = false;
};

/// What is to be read, and the run folder that it is for.
struct TrainingJob {
  fs::path recipe, run;
  bool resumes = false;
};

/// The newest of the runs that new_run_path() named after a recipe.
std::optional<fs::path> newest_run(const fs::path& root, const std::string& name) {
  const std::regex pattern("([0-9]{8})-(.*?)(?:-([0-9]+))?");
  std::optional<fs::path> newest;
  std::pair<std::string, int> newest_key;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(root, unreadable)) {
    const std::string folder = entry.path().filename().string();
    std::smatch match;
    if (!std::regex_match(folder, match, pattern) || match[2] != name || match[3].length() > 6) continue;
    const std::pair key(match[1].str(), match[3].matched ? std::stoi(match[3]) : 1);
    if (!newest || key > newest_key) {
      newest = entry.path();
      newest_key = key;
    }
  }
  return newest;
}

TrainingJob job_of(const TrainArguments& arguments) {
  if (fs::is_directory(arguments.target)) {
    const train::RunFolder folder = train::RunFolder::open(arguments.target);
    if (!arguments.resume && !arguments.print && !arguments.dry_run)
      throw UsageError(arguments.target + " is a run; add --resume to go on with it");
    return {folder.resolved(), folder.path(), true};
  }
  const fs::path recipe = find_recipe(arguments.target);
  const std::string name = recipe.stem().string();
  if (!arguments.run.empty()) return {recipe, arguments.run, arguments.resume && fs::exists(arguments.run)};
  if (arguments.resume)
    if (const auto run = newest_run(arguments.runs, name)) return {recipe, *run, true};
  return {recipe, train::new_run_path(arguments.runs, name), false};
}

report::ProgressMode progress_mode(const std::string& word) {
  if (word == "bar") return report::ProgressMode::bar;
  if (word == "plain") return report::ProgressMode::plain;
  if (word == "none") return report::ProgressMode::none;
  return report::ProgressMode::automatic;
}

/// This process's command line, as it is kept in the run folder.
std::vector<std::string> command_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words{"cachet"};
  std::string word;
  std::getline(file, word, '\0');  // the program, by whatever path
  while (std::getline(file, word, '\0')) words.push_back(word);
  return words;
}

train::RunFolder make_run_folder(const TrainingJob& job, const config::Document& document) {
  if (job.resumes) return train::RunFolder::resume(job.run, document, command_words());
  const std::string written = io::read_text_file(job.recipe, 1 << 20);
  return train::RunFolder::create(job.run, written, document, command_words());
}

void print_dry_run(const tasks::DryRun& dry, const std::string& model) {
  const auto line = [](const std::string& what, const std::string& value) {
    std::cout << what << std::string(14 - what.size(), ' ') << value << '\n';
  };
  const double rate = static_cast<double>(dry.step_samples) / dry.step_seconds;
  line("model", model);
  line("a step", report::format_duration(dry.step_seconds) + " (" + std::to_string(dry.step_samples) + " samples, " +
                     report::format_number(rate, 3) + " a second)");
  line("evaluation", report::format_duration(dry.evaluation_seconds));
  line("checkpoint", report::format_bytes(static_cast<int64_t>(dry.checkpoint_bytes)) + " in " +
                         report::format_duration(dry.checkpoint_seconds));
  line("memory", report::format_bytes(dry.memory_bytes));
  line("whole run", "about " + report::format_duration(dry.total_seconds()) + " (" + std::to_string(dry.total_steps) +
                        " steps, " + std::to_string(dry.evaluations) + " evaluations)");
}

int say_outcome(const train::Outcome& outcome, const train::RunFolder& folder) {
  const int code = outcome.exit_code();
  if (code == kFailed) throw std::runtime_error(outcome.message);
  if (!outcome.message.empty()) std::cerr << outcome.message << '\n';
  if (code != kDone) return code;
  std::cout << "step " << outcome.step << ", " << report::format_duration(outcome.seconds) << " of training";
  if (const auto top1 = outcome.metrics.find("top1"))
    std::cout << ", top-1 " << report::format_percent(*top1) << " ± "
              << report::format_percent(outcome.metrics.find("top1_stderr").value_or(0));
  std::cout << '\n' << folder.report().string() << '\n';
  return code;
}

int run_train(const TrainArguments& arguments) {
  const TrainingJob job = job_of(arguments);
  config::Document document = read_document(job.recipe, arguments.settings);
  if (arguments.seed) document.set("train.seed=" + std::to_string(*arguments.seed));
  const tasks::RecipePlan plan = tasks::read_recipe(document);
  if (arguments.print) {
    std::cout << document.resolved_toml(/*with_origins=*/true);
    return kDone;
  }
  const auto task = plan.build();
  if (arguments.dry_run) {
    print_dry_run(tasks::dry_run(*task, plan.training), plan.images.model.name);
    return kDone;
  }
  train::RunFolder folder = make_run_folder(job, document);
  report::Progress progress({.mode = progress_mode(arguments.progress)});
  progress.log((job.resumes ? "resuming " : "training in ") + folder.path().string());
  return say_outcome(train::Trainer(*task, plan.training, folder, &progress).run(), folder);
}

Action declare_train(CLI::App& app) {
  auto arguments = std::make_shared<TrainArguments>();
  app.add_option("RECIPE", arguments->target, "A recipe's file or name (`cachet recipes`), or a run's folder")
      ->required()
      ->type_name("");
  add_recipe_settings(app, arguments->settings);
  app.add_flag("--resume", arguments->resume, "Go on with the run: the folder, or the newest one of this recipe");
  app.add_option("--run", arguments->run, "The run's folder (RUNS/<date>-<recipe>)")->type_name("FOLDER");
  app.add_option("--runs", arguments->runs, "Where runs lie (runs)")->type_name("FOLDER");
  app.add_option("--seed", arguments->seed, "The same as --set train.seed=N")->type_name("N");
  app.add_flag("--print", arguments->print, "Print the recipe that would run, with each value's origin, and leave");
  app.add_flag("--dry-run", arguments->dry_run,
               "Try a step, an evaluation and a checkpoint, estimate the run, and leave");
  app.add_option("--progress", arguments->progress, "auto, bar, plain or none (auto)")
      ->check(CLI::IsMember({"auto", "bar", "plain", "none"}))
      ->type_name("HOW");
  return [arguments] { return run_train(*arguments); };
}

const Registration registered_train({Topic::runs,
                                     "train",
                                     "Train what a recipe describes, or go on with a run",
                                     {"cachet train demo_cached --print",
                                      "cachet train demo_plain --set train.limit='20 steps' --run my-run",
                                      "cachet train my-run --resume --set train.limit='30 steps'"},
                                     declare_train});

}  // namespace
}  // namespace cachet::app
