#pragma once

#include <string>

#include "cachet/tasks/data_look.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::app {

/// Calls TaskPlan::look_at_data(). If this takes more than a moment, shows the progress in the form of --progress.
tasks::DataLook look_at_data(const tasks::TaskPlan& plan, const std::string& progress_word);

}  // namespace cachet::app
