#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cachet/io/files/growing_file.h"
#include "cachet/io/tensorboard/tensorboard_records.h"
#include "cachet/report/metric_description.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::train {

/// A run's events in TensorBoard's format, in `events.out.tfevents.<seconds>.cachet`. The tags are the names of
/// metrics.jsonl after "training/", "evaluation/" or "machine/"; values of a series have their index after the name. If
/// several events of a step have a tag, its value is that of the first. A metric's title, unit and better direction are
/// those of its task's description.
///
/// Each part of a run has its own file, and the names of the files are in the order of the parts. A file does not
/// change after the beginning of the next part, because a running TensorBoard may still read it.
class TensorBoardLog {
 public:
  /// Begins a new file. `events` are those of metrics.jsonl, up to step `resumed_at`, from which the run is resumed (0:
  /// it begins). If the files of earlier parts have all events before this step, the new file starts a session at this
  /// step: readers then drop later events of the old files. Otherwise the new file has all events, and starts a session
  /// at step 0. This happens if the run logs for TensorBoard for the first time, or if files are missing or damaged.
  /// `recipe` is shown as a text. Throws io::Error.
  TensorBoardLog(const std::filesystem::path& run, const std::string& recipe,
                 const std::vector<report::MetricDescription>& metrics, const std::vector<Event>& events,
                 int64_t resumed_at);

  void append(const Event& event);

 private:
  std::string record_of(const Event& event);
  io::TensorBoardScalar scalar_of(const std::string& kind, const std::string& name, double value);
  std::filesystem::path begin_file(const std::filesystem::path& run, const std::string& recipe,
                                   const std::vector<Event>& events, int64_t resumed_at);

  std::vector<report::MetricDescription> metrics_;
  std::set<std::string> described_;           // tags with a description in the file
  std::map<std::string, int64_t> last_step_;  // of each tag
  io::GrowingFile file_;
};

}  // namespace cachet::train
