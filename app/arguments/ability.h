#pragma once

#include "app/commands/command.h"
#include "cachet/report/program_name.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/task.h"

namespace cachet::app {

/// The interface that a task must have for what was asked. Throws UsageError that says what it cannot do.
template <class Ability>
Ability& ability_of(tasks::Task& task, const char* what) {
  auto* ability = dynamic_cast<Ability*>(&task);
  if (ability == nullptr)
    throw UsageError("a task of kind '" + task.profile().kind + "' cannot " + what + "; `" + report::program_name() +
                     " eval` measures it");
  return *ability;
}

}  // namespace cachet::app
