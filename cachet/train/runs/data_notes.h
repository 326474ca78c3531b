#pragma once

#include <set>
#include <string>
#include <vector>

#include "cachet/train/training_task.h"

namespace cachet::train {

/// The notes about a task's data (Task::data_notes) that the user has seen: the notes that were printed when the task
/// was created, and the notes that take_new() returned.
class DataNotes {
 public:
  explicit DataNotes(const TrainingTask& task);

  /// Returns the notes that the user has not seen, and marks them as seen.
  std::vector<std::string> take_new();

 private:
  const TrainingTask& task_;
  std::set<std::string> told_;
};

}  // namespace cachet::train
