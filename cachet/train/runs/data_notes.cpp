#include "cachet/train/runs/data_notes.h"

namespace cachet::train {

ToldNotes::ToldNotes(const Task& task) : task_(task) { untold(); }

std::vector<std::string> ToldNotes::untold() {
  std::vector<std::string> lines;
  for (std::string& line : task_.data_notes()) {
    if (told_.insert(line).second) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace cachet::train
