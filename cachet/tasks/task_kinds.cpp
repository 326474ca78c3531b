#include "cachet/tasks/task_kinds.h"

#include <algorithm>
#include <stdexcept>

namespace cachet::tasks {
namespace {

std::vector<TaskKind>& kinds() {
  static std::vector<TaskKind> all{image_classification(), sequence_classification(), language_modelling(),
                                   translation(), detection()};
  return all;
}

}  // namespace

const std::vector<TaskKind>& task_kinds() { return kinds(); }

void register_task_kind(TaskKind kind) {
  if (std::ranges::find(kinds(), kind.name, &TaskKind::name) != kinds().end())
    throw std::invalid_argument("there is already a kind of task \"" + kind.name + "\"");
  kinds().push_back(std::move(kind));
}

}  // namespace cachet::tasks
