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

/// The plan of a recipe after reading, before data are opened or the model is built.
struct RecipePlan {
  train::Options training;
  std::shared_ptr<const TaskPlan> task;
  std::vector<std::string> notes{};  // lines from the functions that read the recipe

  models::ModelPlan model() const { return task->profile().model; }
  /// Sets up the process (threads, seed) and builds the task, with random weights. If the splits are for evaluation,
  /// checks that the files of the evaluation can be read (Task::check_evaluation_files). If the splits are for
  /// training, prints the notes and stores them for the log of the run.
  std::unique_ptr<Task> build(Splits splits = Splits::both) const;

  /// At the beginning of a run, loads the weights that train.init names into the task's model. If the model has unified
  /// norms, their warm-up starts again. Returns lines that report the loaded weights, or no lines if the recipe names
  /// none. Throws io::Error, train::DamagedCheckpoint. Weights of the hub or of an https address are downloaded first
  /// (hub/fetch.h).
  std::vector<std::string> initialize(train::TrainingTask& task, const hub::DownloadOptions& downloads) const;
  /// Loads the weights of train.init without reports of downloads.
  std::vector<std::string> initialize(train::TrainingTask& task) const;
};

/// Reads all tables of a recipe: [task] with its kind (task_kinds.h), [model], [data], [train], [optimizer],
/// [schedule]. `processes` is the number of processes that train together. Only the comparison of a recipe with a row
/// of a paper's table uses the number of processes. Throws config::Error with all problems at once.
RecipePlan read_recipe(config::Document& document, data::DataRoot data_root = data::DataRoot::required,
                       int64_t processes = 1);

}  // namespace cachet::tasks
