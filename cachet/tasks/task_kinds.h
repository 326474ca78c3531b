#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/data_path.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::tasks {

/// A kind of task: its name in recipes, and the function that reads its plan.
struct TaskKind {
  std::string name;  // name in [task] kind: "image_classification"
  /// Reads the tables [task], [data] and [model] of a recipe from its root table. Problems with values are recorded in
  /// the view `root`.
  std::function<std::unique_ptr<TaskPlan>(const config::View& root, data::DataRoot data_root)> read;
};

/// Returns all kinds of tasks: those of the library, then those that a program registered. If a recipe has no key
/// `kind` in [task], its kind is the first one that task_kinds() returns.
const std::vector<TaskKind>& task_kinds();

/// Adds a kind of task that a program defines. register_task_kind() must be called before any recipe is read. If
/// another kind has the same name, throws std::invalid_argument.
void register_task_kind(TaskKind kind);

// The kinds of tasks that the library itself has. Each kind of task is defined in its own source folder.
TaskKind image_classification();
TaskKind sequence_classification();
TaskKind language_modelling();
TaskKind translation();
TaskKind detection();

}  // namespace cachet::tasks
