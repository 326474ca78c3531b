#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/io/growing_file.h"
#include "cachet/train/event_log.h"

namespace cachet::train {

/// A run's events as TensorBoard shows them, in `events.out.tfevents.<seconds>.cachet`. The tags are the names of
/// metrics.jsonl behind "training/", "evaluation/" or "machine/"; values of a series have their index behind the name.
class TensorBoardLog {
 public:
  /// Writes what metrics.jsonl holds into a new file and removes the one that an earlier part of the run left: a
  /// resumed run shows no step twice, and a run that begins to log for TensorBoard late shows all of it. `recipe` is
  /// shown as a text. Throws io::Error.
  TensorBoardLog(const std::filesystem::path& run, const std::string& recipe, const std::vector<Event>& events);

  void append(const Event& event);

 private:
  io::GrowingFile file_;
};

}  // namespace cachet::train
