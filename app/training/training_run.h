#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "cachet/config/document.h"
#include "cachet/io/files/folder_lock.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {

/// The source of settings that a run keeps, in the origins of its values.
inline constexpr const char* kKeptSource = "saved by the run";

/// The source of values that follow the data.
inline constexpr const char* kDataSource = "the data";

/// What `cachet train` was asked.
struct TrainArguments {
  std::string target;                          // a recipe, a run, a folder of seeds, or a model
  std::optional<train::WrittenRecipe> made{};  // of a model and data of the user's own: the recipe in place of a file
  std::vector<std::string> settings;
  std::vector<std::string>
      saved_settings;                   // over those: what a run keeps of its data and of files that its recipe names
  std::vector<std::string> prepared{};  // keys that the recipe leaves open: what the weights of train.init ask for
  std::string source_of_prepared{};     // in the origins of values
  std::string run, runs = "runs", progress = "auto", seeds;
  std::optional<uint64_t> seed;
  int64_t processes = 0;  // that train together; 0 on the command line: the number of the environment, or else one
  bool resume = false, print = false, dry_run = false;
  bool fitting_batch = false;         // --batch-size auto
  std::vector<std::string> chosen{};  // by --batch-size auto; they are in `settings`, too
  bool of_sweep = false;              // which shows the results of all its points itself

  bool is_preview() const { return print || dry_run; }
};

/// What is to be read, and the folder that it is for.
struct TrainingJob {
  std::filesystem::path recipe, run;  // `recipe` is not a file if it was made
  bool resumes = false;
  bool is_named = true;  // the folder, by the user
  std::optional<train::WrittenRecipe> made{};

  std::string name() const { return made ? made->name : recipe.stem().string(); }
  /// What the run keeps of its recipe: the text of its file, or, if the recipe was made, all values of `document` that
  /// the recipe and the command line set, so that a copy trains the same.
  train::WrittenRecipe written(const config::Document& document) const;
};

/// `several`: a folder of seeds is meant, not a single run. Throws UsageError for a run without --resume.
TrainingJob training_job(const TrainArguments& arguments, bool several);

/// The folder that `path` lies in, made where it is not there, so that no other process that asks makes one of its name
/// while this lives. If another process has it, reports that, and waits. Throws std::runtime_error where it cannot be
/// made.
io::FolderLock lock_beside(const std::filesystem::path& path);

/// Where a job that does not resume makes its folder. Where the name is not the user's, or several processes may share
/// the folder (--resume), no other one makes a folder next to it while this lives. One that did so since the job's name
/// was chosen has that name: this has another, unless it may resume what is there (--resume).
class NewRunPath {
 public:
  NewRunPath(const TrainArguments& arguments, const TrainingJob& job);

  std::filesystem::path path;

 private:
  std::optional<io::FolderLock> lock_;
};

/// `latest` leads to runs in the folder of runs alone: a run that --run puts elsewhere leaves no link there.
train::LatestLink latest_link(const TrainArguments& arguments, const std::filesystem::path& run);

/// A recipe that was read, and what a run of it keeps next to its own files.
struct ReadRecipe {
  config::Document document;
  tasks::RecipePlan plan;
  std::map<std::string, std::string> files{};
};

/// Reads a job's recipe, with a seed of its own if one is given. If a run is resumed, options that it does not know
/// have the values that it was made with. If a classifier starts from weights, it has as many classes as its data, and
/// a note of the plan reports that the recipe names another number.
ReadRecipe read_recipe(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                       const std::optional<std::filesystem::path>& resumed = std::nullopt);

/// A line for the user if the parts of a step (train.state) are not those of the recipe without the settings that
/// change them.
std::optional<std::string> other_parts_note(const TrainingJob& job, const TrainArguments& arguments,
                                            const tasks::RecipePlan& run);

/// The same for training: the recipe is checked against the files that it names (a subword model), or against
/// their copies in the run that is resumed. Throws io::Error where one cannot be read.
ReadRecipe read_recipe_for_run(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                               const std::optional<std::filesystem::path>& resumed_run);

/// A line where the recipe asks for bfloat16 and this processor is slower with it; measures for less than half a
/// second.
std::optional<std::string> precision_note(const tasks::RecipePlan& plan);

/// This process's command line, as run folders keep it.
std::vector<std::string> command_words();

/// --print and --dry-run. `runs` is how many seeds the recipe would be trained with.
int look_at_training(const TrainArguments& arguments, const TrainingJob& job, const config::Document& document,
                     const tasks::RecipePlan& plan, size_t runs);

/// What --seeds means: "5" is that many seeds from `first` on, "0,1,7" is these. Throws UsageError.
std::vector<uint64_t> parse_seeds(const std::string& text, uint64_t first);

/// What came of several seeds.
struct SeedsOutcome {
  int code = kDone;                 // an ExitCode
  std::vector<uint64_t> elsewhere;  // what other processes train
};

/// `cachet train` with several seeds, one after the other. Those that another process trains are passed by.
SeedsOutcome train_seeds(const TrainArguments& arguments);

/// Before a run takes memory. Throws std::runtime_error with the largest batch that fits if the run does not fit into
/// the free memory. `processes`: those of this machine that train together. Does nothing if the memory cannot be
/// estimated, and if the data are absent, which the run reports itself.
void require_memory_of_run(const tasks::RecipePlan& plan, bool resumes, int64_t processes);

/// Settings of --batch-size auto: the largest micro-batches that fit, and train.accumulate (and train.state) with them.
/// A run that is resumed keeps its own. Throws std::runtime_error if no batch fits or the memory cannot be estimated.
std::vector<std::string> fitting_batch_settings(const TrainingJob& job, const TrainArguments& arguments);

/// The task that is about to be trained. Where no run with a checkpoint is resumed, it takes its weights from
/// where the recipe names them, and reports what became of them.
std::unique_ptr<tasks::Task> task_to_train(const TrainArguments& arguments, const tasks::RecipePlan& plan,
                                           const std::optional<std::filesystem::path>& resumed_run);

/// Before the folder of a new run is made: values that depend on the length of the run become those that the run keeps
/// (model.norm.warmup = "10 %"). Prints a line for each, which the log of the run has, too.
void settle_length(ReadRecipe& recipe, tasks::Task& task);

}  // namespace cachet::app
