#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/training/train_arguments.h"
#include "cachet/config/document.h"
#include "cachet/io/files/folder_lock.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {

/// The recipe to train, and the folder of its run.
struct TrainingJob {
  std::filesystem::path recipe, run;  // `recipe` is not a file if it was made
  bool resumes = false;
  bool is_named = true;  // whether the user named the folder
  std::optional<train::WrittenRecipe> made{};

  std::string name() const { return made ? made->name : recipe.stem().string(); }
  /// The recipe that the run saves: the text of its file, or, if the recipe was made, all values of `document` that the
  /// recipe and the command line set, so that a copy trains the same.
  train::WrittenRecipe written(const config::Document& document) const;
};

/// `several`: the job is a folder of seeds, not a single run. Throws UsageError for a run without --resume.
TrainingJob training_job(const TrainArguments& arguments, bool several);

/// The run that a job resumes; empty if it begins one.
std::optional<std::filesystem::path> resumed_run(const TrainingJob& job);

/// Locks the folder that contains `path`, and creates it if it is absent. While the lock lives, no other process that
/// takes the same lock creates a folder of that name. If another process has the lock, prints that and waits. Throws
/// std::runtime_error if the folder cannot be created.
io::FolderLock lock_beside(const std::filesystem::path& path);

/// The folder of a new run. If the program chose the name, or several processes may share the folder (--resume), no
/// other process creates a folder next to it while this object lives. If another process has created a folder of that
/// name since the job chose it, `path` is another name, unless the job may resume what is there (--resume).
class NewRunPath {
 public:
  NewRunPath(const TrainArguments& arguments, const TrainingJob& job);

  std::filesystem::path path;

 private:
  std::optional<io::FolderLock> lock_;
};

/// Whether the link `latest` points to a new run: only if the run is in the folder of runs, and not elsewhere (--run).
train::LatestLink latest_link(const TrainArguments& arguments, const std::filesystem::path& run);

/// This process's command line, as run folders save it.
std::vector<std::string> command_words();

}  // namespace cachet::app
