#include "app/training/train_seeds.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "app/arguments/common_arguments.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/commands/data/data_location.h"
#include "app/output/failure.h"
#include "app/output/text_output.h"
#include "app/training/shared_series.h"
#include "app/training/training_memory.h"
#include "app/training/training_preview.h"
#include "app/training/training_task.h"
#include "app/training/weights_preparation.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/report/page/html.h"
#include "cachet/report/program_name.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/runs/run_comparison.h"
#include "cachet/train/data_parallel/part_counts.h"
#include "cachet/train/runs/resume_command.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/run_status.h"
#include "cachet/train/runs/seed_folder.h"
#include "cachet/train/trainer.h"

namespace cachet::app {
namespace {

/// The seeds that the command line asks for; none where it leaves them to the folder.
std::vector<uint64_t> asked_seeds(const TrainArguments& arguments, uint64_t first) {
  const bool listed = arguments.seeds.find(',') != std::string::npos;
  if (arguments.seed && (listed || arguments.seeds.empty()))
    throw UsageError(
        "--seed is the first seed of --seeds N; leave --seed out if you give a list of seeds, or resume a folder of "
        "seeds");
  if (arguments.seeds.empty()) return {};
  return parse_seeds(arguments.seeds, first);
}

/// Nothing is left to do: the run is complete, and the recipe that was read now would not change that.
bool is_done(const train::SeedFolder& seeds, uint64_t seed, const config::Document& document) {
  if (!seeds.has_begun(seed)) return false;
  const auto run = train::RunFolder::open(seeds.run(seed));
  const auto status = train::read_status(run.status());
  const train::RecipeChanges changes = train::recipe_changes(run.values(), document);
  return status && train::is_complete(*status) && changes.allowed.empty() && changes.refused.empty();
}

/// The values that name the data of a run.
train::RecipeValues data_values(train::RecipeValues values) {
  std::erase_if(values, [](const auto& value) {
    return !value.first.starts_with("data.") || train::may_change_on_resume(value.first);
  });
  return values;
}

class SeedSeries {
 public:
  SeedSeries(const TrainArguments& arguments, const TrainingJob& job, train::SeedFolder folder)
      : arguments_(arguments), job_(job), folder_(std::move(folder)) {}

  /// `built` is the task of the first seed, if it was needed before the folder.
  SeedsOutcome run(std::unique_ptr<tasks::Task> built) {
    uint64_t at = 0;
    const auto elsewhere = train_shared(folder_.seeds(), [&](uint64_t seed) {
      at = seed;
      return run_one(seed, std::move(built));
    });
    if (!elsewhere) return {interrupted(at), {}};
    if (!elsewhere->empty()) say_elsewhere(*elsewhere);
    if (const auto groups = write_overview(); groups && !arguments_.of_sweep)
      std::cout << report::text_table(report::results_table(tasks::compared(*groups)),
                                      printed_form(/*wide=*/false, "the report"))
                << '\n'
                << folder_.shared().report().string() << '\n';
    if (failed_.empty()) return {kDone, *elsewhere};
    throw std::runtime_error(std::to_string(failed_.size()) + " of " + std::to_string(folder_.seeds().size()) +
                             " seeds failed, as reported above; try them again with: " + resuming());
  }

 private:
  /// A failure is reported, and ends only this seed.
  Came run_one(uint64_t seed, std::unique_ptr<tasks::Task> built) {
    const std::string who = "seed " + std::to_string(seed);
    try {
      const auto begun = folder_.has_begun(seed) ? std::optional(folder_.run(seed)) : std::nullopt;
      ReadRecipe recipe = read_recipe_for_run(job_, arguments_, seed, begun);
      if (is_done(folder_, seed, recipe.document)) {
        log(who + " is done");
        return Came::to_an_end;
      }
      if (begun && train::is_being_trained(*begun)) return Came::elsewhere;
      if (!built) built = task_to_train(arguments_, recipe.plan, begun);
      if (!begun) settle_length(recipe, *built);
      if (!begun) require_data_of_others(*built, recipe.document);
      const train::Outcome outcome = train_in_folder(seed, *built, recipe);
      if (outcome.exit_code() == kInterrupted) return Came::interrupted;
      if (!outcome.message.empty())
        std::cerr << report::program_name() << " train: " << who << ": " << outcome.message << '\n';
      if (outcome.exit_code() != kDone) failed_.push_back(seed);
    } catch (const train::RunInUse&) {
      return Came::elsewhere;
    } catch (...) {
      report_failure(report::program_name() + " train: " + who);
      failed_.push_back(seed);
    }
    write_overview();
    return Came::to_an_end;
  }

  /// Results of seeds, and of a sweep's points that differ in other keys, are compared: a new run has the data of those
  /// that were begun. Throws as RunFolder::compare_data() does.
  void require_data_of_others(const train::TrainingTask& task, const config::Document& document) const {
    const train::RecipeValues own = data_values(train::recipe_values(document));
    for (const std::filesystem::path& path : runs_to_compare_with()) {
      std::optional<train::RunFolder> other;
      try {
        other = train::RunFolder::open(path);
      } catch (const std::exception&) {
        continue;  // a damaged run is a failure of its own when its turn comes
      }
      if (!other->knows_its_data() || data_values(other->values()) != own) continue;
      other->compare_data(task.data_digests(), [&] { return task.data_fingerprints(); });
      return;
    }
  }

  /// Those of the folder, and of a sweep those of its other points.
  std::vector<std::filesystem::path> runs_to_compare_with() const {
    std::vector<std::filesystem::path> points{folder_.shared().path()}, runs;
    std::error_code gone;  // a folder in the making may get another name meanwhile
    if (arguments_.of_sweep)
      for (const auto& entry : std::filesystem::directory_iterator(points.front().parent_path(), gone))
        if (train::SeedFolder::is_at(entry.path())) points.push_back(entry.path());
    for (const std::filesystem::path& point : points)
      for (const auto& entry : std::filesystem::directory_iterator(point, gone))
        if (train::is_run_folder(entry.path())) runs.push_back(entry.path());
    return runs;
  }

  train::Outcome train_in_folder(uint64_t seed, train::TrainingTask& task, const ReadRecipe& recipe) {
    const bool resumes = folder_.has_begun(seed);
    train::RunFolder run = run_folder(seed, recipe);
    report::Progress progress({.mode = progress_mode(arguments_.progress)});
    train::Trainer trainer(task, recipe.plan.training, run, &progress);
    train::Outcome outcome;
    with_smaller_batch(recipe.plan, resumes, /*processes=*/1, [&] { outcome = trainer.run(); });
    return outcome;
  }

  /// One process makes it, while others wait.
  train::RunFolder run_folder(uint64_t seed, const ReadRecipe& recipe) const {
    const io::FolderLock lock = folder_.lock();
    const auto path = folder_.run(seed);
    const bool resumes = folder_.has_begun(seed);
    if (resumes) train::require_parts_of_newest(train::RunFolder::open(path).checkpoints(), recipe.plan.training.train);
    train::RunFolder run = resumes
                               ? train::RunFolder::resume(path, recipe.document, command_words())
                               : train::RunFolder::create(path, folder_.written_recipe(), recipe.document,
                                                          command_words(), recipe.files, train::LatestLink::untouched);
    log((resumes ? "resuming " : "training in ") + path.string() + where_data_lie(recipe.plan));
    return run;
  }

  void say_elsewhere(const std::vector<uint64_t>& seeds) const {
    if (arguments_.of_sweep) return;  // it reports all its configurations itself
    std::string names;
    for (const uint64_t seed : seeds) names += (names.empty() ? "" : ", ") + std::to_string(seed);
    log((seeds.size() == 1 ? "seed " + names + " is" : "seeds " + names + " are") +
        " being trained by other processes, which will add the results to the overview");
  }

  void log(const std::string& line) const { report::Progress({.mode = progress_mode(arguments_.progress)}).log(line); }

  /// The overview of the seeds: results.csv for programs, report.html for people. Gives what they show; nothing
  /// while no seed has begun, and where it cannot be written, which is reported and does not stop training.
  std::optional<std::vector<tasks::RunGroup>> write_overview() const {
    if (std::ranges::none_of(folder_.seeds(), [&](uint64_t seed) { return folder_.has_begun(seed); }))
      return std::nullopt;
    const auto path = folder_.shared().path();
    try {
      const io::FolderLock lock = folder_.lock();  // what is read last is written last
      auto groups = tasks::read_groups({path}).groups;
      io::write_file_atomically(path / "results.csv", report::csv_table(tasks::published_table(groups)));
      io::write_file_atomically(folder_.shared().report(),
                                report::render_html(tasks::comparison_page(groups, path.filename().string())));
      return groups;
    } catch (...) {
      report_failure(report::program_name() + " train: the overview of the seeds");
      return std::nullopt;
    }
  }

  int interrupted(uint64_t seed) const {
    write_overview();
    std::cerr << "interrupted in seed " << seed << "; resume with: " << resuming() << '\n';
    return kInterrupted;
  }

  std::string resuming() const { return train::resume_command(folder_.shared().path()); }

  const TrainArguments& arguments_;
  const TrainingJob& job_;
  train::SeedFolder folder_;
  std::vector<uint64_t> failed_;
};

/// Makes the folder of the seeds, or resumes it where that is meant and it is there: another process may have made
/// it since the recipe was read.
train::SeedFolder seed_folder(const TrainArguments& arguments, const TrainingJob& job, const config::Document& document,
                              const std::vector<uint64_t>& seeds) {
  const NewRunPath run(arguments, job);
  if (arguments.resume && train::SeedFolder::is_at(run.path))
    return train::SeedFolder::resume(run.path, document, command_words(), seeds);
  return train::SeedFolder::create(run.path, job.written(document), document, command_words(), seeds,
                                   latest_link(arguments, run.path));
}

}  // namespace

std::vector<uint64_t> parse_seeds(const std::string& text, uint64_t first) {
  const auto seeds = train::seeds_from_text(text, first);
  if (!seeds)
    throw UsageError("--seeds " + text +
                     ": give the number of seeds, such as 5 (the first is train.seed), or a list of different seeds, "
                     "such as 0,1,7; at most 1,000 seeds");
  return *seeds;
}

SeedsOutcome train_seeds(const TrainArguments& asked) {
  const TrainingJob job = training_job(asked, /*several=*/true);
  const TrainArguments arguments = with_preparation_of_weights(asked, job);
  const ReadRecipe given = read_recipe(job, arguments, arguments.seed);
  std::vector<uint64_t> seeds = asked_seeds(arguments, given.plan.training.train.seed);
  if (job.resumes) {
    const std::vector<uint64_t> known = train::SeedFolder::open(job.run).seeds();
    seeds.insert(seeds.begin(), known.begin(), known.end());
  }
  if (arguments.is_preview()) {
    const ReadRecipe first = read_recipe(job, arguments, seeds.front());
    const std::set<uint64_t> distinct(seeds.begin(), seeds.end());
    return {preview_training(arguments, job, first.document, first.plan, distinct.size()), {}};
  }
  std::optional<std::filesystem::path> begun;
  if (job.resumes) begun = train::SeedFolder::run_of(job.run, seeds.front());
  ReadRecipe first = read_recipe_for_run(job, arguments, seeds.front(), begun);
  std::unique_ptr<tasks::Task> built;
  if (!arguments.fitting_batch) require_memory_of_run(first.plan, job.resumes, /*processes=*/1);
  if (!job.resumes) {
    built = task_to_train(arguments, first.plan, begun);  // what cannot begin leaves no folder
    settle_length(first, *built);
  }
  train::SeedFolder folder = seed_folder(arguments, job, first.document, seeds);
  if (folder.seeds().front() != seeds.front()) built.reset();  // another process made the folder, for seeds of its own
  return SeedSeries(arguments, job, std::move(folder)).run(std::move(built));
}

}  // namespace cachet::app
