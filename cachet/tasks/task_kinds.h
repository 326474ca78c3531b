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
  /// Reads [task], [data] and [model] from the root of a recipe; problems are recorded in the root's views.
  std::function<std::unique_ptr<TaskPlan>(const config::View& root, data::DataRoot data_root)> read;
};

/// Returns all kinds: those of the library, then those that a program registered. A recipe without [task] kind has the
/// first kind.
const std::vector<TaskKind>& task_kinds();

/// Adds a program's own kind, before any recipe is read. Throws std::invalid_argument if the name is taken.
void register_task_kind(TaskKind kind);

// The library's own kinds, each in its folder.
TaskKind image_classification();
TaskKind sequence_classification();
TaskKind language_modelling();
TaskKind translation();
TaskKind detection();

}  // namespace cachet::tasks
