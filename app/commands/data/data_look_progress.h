#pragma once

#include <string>

#include "cachet/tasks/data_look.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::app {

/// TaskPlan::look_at_data(); what takes more than a moment shows how far it is, as --progress asks.
tasks::DataLook look_at_data(const tasks::TaskPlan& plan, const std::string& progress_word);

}  // namespace cachet::app
