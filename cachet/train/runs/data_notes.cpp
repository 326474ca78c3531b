#include "cachet/train/runs/data_notes.h"

namespace cachet::train {

DataNotes::DataNotes(const TrainingTask& task) : task_(task) { take_new(); }

std::vector<std::string> DataNotes::take_new() {
  std::vector<std::string> lines;
  for (std::string& line : task_.data_notes()) {
    if (told_.insert(line).second) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace cachet::train
