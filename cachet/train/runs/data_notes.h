#pragma once

#include <set>
#include <string>
#include <vector>

#include "cachet/train/training_task.h"

namespace cachet::train {

/// Which notes of a task's data (Task::data_notes) the user has seen: those that a task was made with, because they
/// were printed then, and those that were taken here.
class DataNotes {
 public:
  explicit DataNotes(const TrainingTask& task);

  /// The new notes; from now on they count as printed.
  std::vector<std::string> take_new();

 private:
  const TrainingTask& task_;
  std::set<std::string> told_;
};

}  // namespace cachet::train
