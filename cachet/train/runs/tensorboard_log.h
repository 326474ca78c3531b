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

/// The events of a run in TensorBoard's format, in `events.out.tfevents.<seconds>.cachet`. A tag is "training/",
/// "evaluation/" or "machine/", followed by a name from metrics.jsonl and, for a value of a series, the value's index.
/// If several events of a step have the same tag, the first of these events determines the value of the tag. The task's
/// description gives the title and the unit of a metric, and whether larger values are better.
///
/// Each uninterrupted part of a run has its own file. If the files are sorted by name, they are in the order in which
/// the parts of the run were trained. A resume of the run does not change the existing files, because a running
/// TensorBoard may still read them.
class TensorBoardLog {
 public:
  /// Begins a new file. `events` are the events of metrics.jsonl up to step `resumed_at`, from which the run is resumed
  /// (0 for a new run). If the files of the run's earlier parts have all events before step `resumed_at`, the new file
  /// starts a TensorBoard session at this step. TensorBoard then ignores events from this step on in the older files.
  /// If the run logs for TensorBoard for the first time, or if files are missing or damaged, the new file has all
  /// events, and its TensorBoard session starts at step 0. TensorBoard shows `recipe` as a text. Throws io::Error.
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
  std::map<std::string, int64_t> last_step_;  // last step of each tag
  io::GrowingFile file_;
};

}  // namespace cachet::train
