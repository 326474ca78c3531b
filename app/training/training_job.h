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

/// The recipe to train and the folder of its run.
struct TrainingJob {
  std::filesystem::path recipe, run;  // `recipe` is not a file if it was generated
  bool resumes = false;
  bool is_named = true;  // whether the user named the folder
  std::optional<train::WrittenRecipe> made{};

  std::string name() const { return made ? made->name : recipe.stem().string(); }
  /// Returns the recipe that the run stores: the text of its file or, for a generated recipe, all values of `document`
  /// that the recipe and the command line set, so that a copy gives the same training.
  train::WrittenRecipe written(const config::Document& document) const;
};

/// `several`: the job is a folder of seeds, not a single run. Throws UsageError for a run without --resume.
TrainingJob training_job(const TrainArguments& arguments, bool several);

/// Returns the run that a job resumes; empty if the job begins a run.
std::optional<std::filesystem::path> resumed_run(const TrainingJob& job);

/// Locks the folder that contains `path`, and creates this folder if it is absent. During the lifetime of the lock,
/// other processes that take the same lock cannot create `path`. If another process has the lock, prints that and
/// waits. Throws std::runtime_error if the folder cannot be created.
io::FolderLock lock_beside(const std::filesystem::path& path);

/// The folder of a new run. If the program chose the name, or if several processes may share the folder (--resume), no
/// other process creates a folder next to it during the lifetime of this object. If another process has created a
/// folder of this name since it was chosen, `path` is another name, unless --resume is set.
class NewRunPath {
 public:
  NewRunPath(const TrainArguments& arguments, const TrainingJob& job);

  std::filesystem::path path;

 private:
  std::optional<io::FolderLock> lock_;
};

/// Whether the link `latest` points to a new run. Only runs in the folder of runs get the link, not other runs (--run).
train::LatestLink latest_link(const TrainArguments& arguments, const std::filesystem::path& run);

/// Returns this process's command line, as run folders store it.
std::vector<std::string> command_words();

}  // namespace cachet::app
