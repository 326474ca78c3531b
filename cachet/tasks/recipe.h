#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/tasks/task_kinds.h"
#include "cachet/tasks/task_plan.h"
#include "cachet/train/options.h"

namespace cachet::hub {
struct DownloadOptions;
}

namespace cachet::tasks {

/// A recipe as it is understood, before anything is opened or built.
struct RecipePlan {
  train::Options training;
  std::shared_ptr<const TaskPlan> task;
  std::vector<std::string> notes{};  // of its readers, a line each

  models::ModelPlan model() const { return task->profile().model; }
  /// Sets up the process (threads, seed) and builds the task, with weights drawn at random. If the task is to evaluate,
  /// checks that the files of the evaluation can be read (Task::check_evaluation_files). If it is to train, prints the
  /// notes and keeps them for the log of the run.
  std::unique_ptr<Task> build(Splits splits = Splits::both) const;

  /// Fills the task's model with the weights that train.init names, for a run that begins: unified norms start their
  /// warm-up again. Returns lines that report what became of them; none if the recipe names no weights. Throws
  /// io::Error, train::DamagedCheckpoint. Weights of the hub or of an https address are downloaded first (hub/fetch.h).
  std::vector<std::string> initialize(train::TrainingTask& task, const hub::DownloadOptions& downloads) const;
  /// The same without reports of downloads.
  std::vector<std::string> initialize(train::TrainingTask& task) const;
};

/// Reads all tables of a recipe: [task] with its kind (task_kinds.h), [model], [data], [train], [optimizer],
/// [schedule]. `processes` are to train it together: they only count for what is compared with a paper's row. Throws
/// config::Error with all problems at once.
RecipePlan read_recipe(config::Document& document, data::DataRoot data_root = data::DataRoot::required,
                       int64_t processes = 1);

}  // namespace cachet::tasks
