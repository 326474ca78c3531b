#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "app/arguments/common_arguments.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/output/failure.h"
#include "app/output/text_output.h"
#include "app/training/shared_series.h"
#include "app/training/train_seeds.h"
#include "app/training/training_recipe.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/folder_lock.h"
#include "cachet/io/files/folder_path.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/report/page/comparison_page.h"
#include "cachet/report/page/html.h"
#include "cachet/report/program_name.h"
#include "cachet/report/shell_word.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/runs/run_comparison.h"
#include "cachet/tasks/sweep.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweepFile = "sweep.toml";

struct SweepArguments {
  std::string recipe, run, runs = "runs", progress = "auto", seeds;
  std::vector<std::string> settings;
  bool resume = false, print = false, dry_run = false;
};

/// What `cachet train` is asked for a point of a sweep: a folder of seeds below that of the sweep.
TrainArguments training_of(const SweepArguments& arguments, const tasks::Sweep& sweep, const tasks::SweepPoint& point,
                           const fs::path& folder) {
  TrainArguments training;
  training.target = known_recipe(arguments.recipe).value().string();
  training.settings = point.settings;
  training.settings.insert(training.settings.end(), arguments.settings.begin(), arguments.settings.end());
  training.run = (folder / point.name).string();
  training.progress = arguments.progress;
  training.seeds = sweep.seeds;
  training.seed = sweep.seed;
  training.resume = true;
  training.print = arguments.print;
  training.dry_run = arguments.dry_run;
  training.of_sweep = true;
  return training;
}

/// Whether there are runs in the folder of a sweep, and of a recipe of another name. Changes in a recipe of the same
/// name are checked for each configuration when it is resumed.
bool is_of_another_recipe(const fs::path& sweep, const std::string& name) {
  return std::ranges::any_of(fs::directory_iterator(sweep), [&](const fs::directory_entry& entry) {
    const bool is_in_the_making = entry.path().filename().string().starts_with('.');
    if (is_in_the_making || !train::SeedFolder::is_at(entry.path())) return false;
    try {
      return train::RunFolder::open(entry.path()).recipe_name() != name;
    } catch (const std::exception&) {
      return false;  // a damaged point is a failure of its own when its turn comes
    }
  });
}

/// "evidence-sweep", also of a recipe that has this name.
std::string sweep_name(const std::string& recipe) {
  const bool is_named_so = recipe == "sweep" || recipe.ends_with("-sweep") || recipe.ends_with("_sweep");
  return is_named_so ? recipe : recipe + "-sweep";
}

/// The folder to work in: a new one, or with --resume one that has this recipe's sweep.
fs::path sweep_folder(const SweepArguments& arguments, const fs::path& recipe) {
  if (arguments.run.empty()) {
    if (arguments.resume) throw UsageError("--resume needs the folder of the sweep; give it with --run");
    return train::new_run_path(arguments.runs, sweep_name(recipe.stem().string()));
  }
  const fs::path folder = io::without_last_separator(arguments.run);
  // Whether the folder is empty is asked first: a sweep that another process makes in between is then seen as a sweep.
  const bool holds = fs::exists(folder) && !fs::is_empty(folder);
  const bool is_sweep = fs::exists(folder / kSweepFile);
  if (is_sweep && is_of_another_recipe(folder, recipe.stem().string()))
    throw UsageError(folder.string() + " contains the sweep of another recipe; choose another --run");
  if (is_sweep && !arguments.resume && !arguments.print && !arguments.dry_run)
    throw UsageError(folder.string() + " already contains a sweep; resume it with --resume, or choose another --run");
  if (!is_sweep && holds)
    throw UsageError(folder.string() + " contains files that do not belong to a sweep; choose another --run");
  return folder;
}

/// Makes the folder, or another one where the name was not the user's and is taken meanwhile.
fs::path make_sweep_folder(const SweepArguments& arguments, const fs::path& recipe, const fs::path& chosen) {
  const io::FolderLock lock = lock_beside(chosen);
  fs::path folder = sweep_folder(arguments, recipe);
  const std::string text = written_recipe(recipe).text;
  if (fs::exists(folder / kSweepFile)) {
    io::write_file_atomically(folder / kSweepFile, text);
    return folder;
  }
  // Made as a whole: another process that looks at it without the lock sees a sweep, or nothing.
  io::NewFolder fresh(folder);
  io::write_new_file(fresh.path() / kSweepFile, text);
  fresh.finish();
  return folder;
}

class SweepSeries {
 public:
  SweepSeries(const SweepArguments& arguments, tasks::Sweep sweep, fs::path folder)
      : arguments_(arguments),
        sweep_(std::move(sweep)),
        folder_(std::move(folder)),
        progress_({.mode = progress_mode(arguments.progress)}) {}

  int run() {
    std::vector<size_t> points(sweep_.points.size());
    std::iota(points.begin(), points.end(), size_t{0});
    const auto elsewhere = train_shared(points, [this](size_t point) { return run_point(point); });
    if (!elsewhere) return kInterrupted;
    if (!elsewhere->empty()) say_elsewhere(*elsewhere);
    const std::vector<report::ComparedRun> rows = write_overview();
    std::cout << report::text_table(report::results_table(rows), printed_form(/*wide=*/false, "the report")) << '\n'
              << (folder_ / "report.html").string() << '\n';
    if (failed_.empty()) return kDone;
    throw std::runtime_error(std::to_string(failed_.size()) + " of " + std::to_string(sweep_.points.size()) +
                             " configurations failed, as reported above; try them again with: " + resuming());
  }

 private:
  /// A failure is reported, and ends only this configuration.
  Came run_point(size_t index) {
    const tasks::SweepPoint& point = sweep_.points[index];
    progress_.log("point " + std::to_string(index + 1) + " of " + std::to_string(sweep_.points.size()) + ": " +
                  point.name);
    SeedsOutcome outcome;
    try {
      outcome = train_seeds(training_of(arguments_, sweep_, point, folder_));
      if (outcome.code == kInterrupted) {
        std::cerr << "resume the sweep with: " << resuming() << '\n';
        return Came::interrupted;
      }
    } catch (const std::exception& error) {
      failed_[point.name] = train::first_line(train::error_message(error));
      report_failure(report::program_name() + " sweep: " + point.name);
    }
    write_overview();
    return outcome.elsewhere.empty() ? Came::to_an_end : Came::elsewhere;
  }

  void say_elsewhere(const std::vector<size_t>& points) {
    std::string names;
    for (const size_t i : points) names += (names.empty() ? "" : ", ") + sweep_.points[i].name;
    progress_.log(
        std::to_string(points.size()) + " of " + std::to_string(sweep_.points.size()) +
        (points.size() == 1 ? " configurations has" : " configurations have") +
        " seeds that other processes are training; these processes will add the results to the overview: " + names);
  }

  /// results.csv for programs and report.html for people, of the points that have begun; and their rows, with one for
  /// each that could not begin.
  std::vector<report::ComparedRun> write_overview() const {
    const auto lock = io::FolderLock::wait_for(folder_);  // what is read last is written last
    std::vector<fs::path> begun;
    for (const tasks::SweepPoint& point : sweep_.points)
      if (train::SeedFolder::is_at(folder_ / point.name)) begun.push_back(folder_ / point.name);
    std::vector<report::ComparedRun> rows, failed;
    report::Table reasons{"", {{"point"}, {"why"}}, {}, ""};
    for (const auto& [name, message] : failed_) {
      if (std::ranges::any_of(begun, [&](const fs::path& path) { return path.filename() == name; })) continue;
      failed.push_back(
          {.name = name, .recipe = {}, .metrics = {}, .curves = {}, .state = "could not begin", .ranked = false});
      reasons.rows.push_back({name, message});
    }
    if (!begun.empty()) {
      std::vector<tasks::RunGroup> groups = tasks::read_groups(begun).groups;
      for (tasks::RunGroup& group : groups) group.name = group.runs.front().path.parent_path().filename().string();
      rows = tasks::compared(groups);
      report::Page page = tasks::comparison_page(groups, folder_.filename().string());
      if (!failed.empty()) page.sections.push_back({"Could not begin", {reasons}, ""});
      io::write_file_atomically(folder_ / "results.csv", report::csv_table(tasks::published_table(groups)));
      io::write_file_atomically(folder_ / "report.html", report::render_html(page));
    }
    rows.insert(rows.end(), failed.begin(), failed.end());
    return rows;
  }

  std::string resuming() const {
    std::string line = report::program_name() + " sweep " + report::shell_word(arguments_.recipe);
    for (const std::string& setting : arguments_.settings) line += " --set " + report::shell_word(setting);
    if (!arguments_.seeds.empty()) line += " --seeds " + report::shell_word(arguments_.seeds);
    return line + " --run " + report::shell_word(folder_.string()) + " --resume";
  }

  const SweepArguments& arguments_;
  tasks::Sweep sweep_;
  fs::path folder_;
  report::Progress progress_;
  std::map<std::string, std::string> failed_;  // by point: why
};

int run_sweep(const SweepArguments& arguments) {
  const fs::path recipe = find_recipe(arguments.recipe);
  tasks::Sweep sweep = tasks::read_sweep(recipe);
  if (!arguments.seeds.empty()) {
    parse_seeds(arguments.seeds, /*first=*/0);  // a mistake is one here, not of every point
    sweep.seeds = arguments.seeds;
    sweep.seed.reset();
  }
  const fs::path folder = sweep_folder(arguments, recipe);
  // An unknown key, or a value out of range, is a mistake in the recipe: nothing begins.
  for (const tasks::SweepPoint& point : sweep.points) {
    const TrainArguments training = training_of(arguments, sweep, point, folder);
    TrainingJob job = training_job(training, /*several=*/true);
    job.resumes = false;  // a point whose run is damaged fails when its turn comes
    try {
      read_recipe(job, training, training.seed);
    } catch (const config::Error& error) {
      throw tasks::with_origins_in_sweep(error, point, arguments.settings);
    }
  }
  if (arguments.print || arguments.dry_run) {
    for (const tasks::SweepPoint& point : sweep.points) {
      std::cout << "# " << point.name << '\n';
      for (const std::string& setting : point.settings) std::cout << "# " << setting << '\n';
      train_seeds(training_of(arguments, sweep, point, folder));
      std::cout << '\n';
    }
    return kDone;
  }
  return SweepSeries(arguments, std::move(sweep), make_sweep_folder(arguments, recipe, folder)).run();
}

Action declare_sweep(CLI::App& app) {
  auto arguments = std::make_shared<SweepArguments>();
  app.add_option("RECIPE", arguments->recipe, "File or name of a recipe with a table [sweep]")
      ->required()
      ->type_name("");
  add_recipe_settings(app, arguments->settings);
  app.add_option("--seeds", arguments->seeds,
                 "Train each configuration once for each seed. Give the number of seeds, such as 5, or a list of "
                 "seeds, such as "
                 "1,4,7 (default: the value in the recipe)")
      ->type_name("N|A,B,...");
  app.add_flag("--resume", arguments->resume,
               "Resume the sweep in the folder of --run. Configurations that are done, or that another process is "
               "training, are skipped");
  app.add_option("--run", arguments->run, "Folder of the sweep (default: RUNS/<date>-<recipe>-sweep)")
      ->type_name("FOLDER");
  app.add_option("--runs", arguments->runs, "Folder in which new sweeps are created (default: runs)")
      ->type_name("FOLDER");
  app.add_flag("--print", arguments->print, "Print the recipe of each configuration, and exit");
  app.add_flag("--dry-run", arguments->dry_run,
               "Try each configuration for one step, estimate the time and memory of its runs, and exit");
  add_progress_option(app, arguments->progress);
  return [arguments] { return run_sweep(*arguments); };
}

const Registration registered_sweep({Topic::runs,
                                     "sweep",
                                     "Train every combination of values that a recipe's table [sweep] lists",
                                     {"cachet sweep sweeps/cache_ratio --dry-run",
                                      "cachet sweep sweeps/cache_ratio --run my-sweep --seeds 5",
                                      "cachet sweep sweeps/cache_ratio --run my-sweep --seeds 5 --resume"},
                                     declare_sweep});

}  // namespace
}  // namespace cachet::app
