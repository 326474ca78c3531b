#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/data_path.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::tasks {

/// A kind of task: what recipes call it, and how its plan is read from a recipe.
struct TaskKind {
  std::string name;  // in [task] kind: "image_classification"
  /// Reads [task], [data] and [model] from the root of a recipe; problems are recorded in its views.
  std::function<std::unique_ptr<TaskPlan>(const config::View& root, data::DataRoot data_root)> read;
};

/// All kinds: those of the library, then those that a program registered. The first is what a recipe without [task]
/// kind means.
const std::vector<TaskKind>& task_kinds();

/// Adds a kind of a program's own, before any recipe is read. Throws std::invalid_argument for a name that is taken.
void register_task_kind(TaskKind kind);

// The library's own, each in its folder.
TaskKind image_classification();
TaskKind sequence_classification();
TaskKind language_modelling();
TaskKind translation();
TaskKind detection();

}  // namespace cachet::tasks
