#pragma once

#include "app/commands/command.h"
#include "cachet/report/program_name.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/task.h"

namespace cachet::app {

/// Returns the task's interface for `what`. A task without this interface causes UsageError, which names `what`.
template <class Capability>
Capability& capability_of(tasks::Task& task, const char* what) {
  auto* capability = dynamic_cast<Capability*>(&task);
  if (capability == nullptr)
    throw UsageError("a task of kind '" + task.profile().kind + "' cannot " + what + "; use `" +
                     report::program_name() + " eval` to evaluate it");
  return *capability;
}

}  // namespace cachet::app
