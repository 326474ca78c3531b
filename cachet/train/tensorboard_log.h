#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cachet/io/growing_file.h"
#include "cachet/io/tensorboard_records.h"
#include "cachet/report/metric_description.h"
#include "cachet/train/event_log.h"

namespace cachet::train {

/// A run's events as TensorBoard shows them, in `events.out.tfevents.<seconds>.cachet`. The tags are the names of
/// metrics.jsonl behind "training/", "evaluation/" or "machine/"; values of a series have their index behind the name.
/// What a metric is called, its unit and which way is better are shown as its task describes them.
class TensorBoardLog {
 public:
  /// Writes what metrics.jsonl holds into a new file and removes the one that an earlier part of the run left: a
  /// resumed run shows no step twice, and a run that begins to log for TensorBoard late shows all of it. `recipe` is
  /// shown as a text. Throws io::Error.
  TensorBoardLog(const std::filesystem::path& run, const std::string& recipe,
                 const std::vector<report::MetricDescription>& metrics, const std::vector<Event>& events);

  void append(const Event& event);

 private:
  std::string record_of(const Event& event);
  io::TensorBoardScalar scalar_of(const std::string& kind, const std::string& name, double value);
  std::filesystem::path write_so_far(const std::filesystem::path& run, const std::string& recipe,
                                     const std::vector<Event>& events);

  std::vector<report::MetricDescription> metrics_;
  std::set<std::string> described_;  // tags whose description the file has
  io::GrowingFile file_;
};

}  // namespace cachet::train
