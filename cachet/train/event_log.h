#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cachet/io/file_system.h"
#include "cachet/train/metrics.h"

namespace cachet::train {

/// One line of metrics.jsonl: what was measured at a step. Docs: docs/training.md.
struct Event {
  enum class Kind { step, evaluation };
  Kind kind = Kind::step;
  int64_t step = 0;
  int64_t epoch = 0;
  Metrics metrics;             // the same in every run of the same recipe
  std::vector<Series> series;  // likewise
  Metrics machine;             // seconds, rates, memory: what differs from run to run
};

std::string to_json_line(const Event& event);

/// The events of a file, those behind a torn or damaged line left out. A missing file has none.
std::vector<Event> read_events(const std::filesystem::path& path);

/// A file of events that only grows. Each event is one write.
class EventLog {
 public:
  /// Throws io::Error.
  explicit EventLog(std::filesystem::path path, io::FileSystem& file_system = io::FileSystem::real());
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();

  void append(const Event& event);
  void sync();  // to the disk, before a checkpoint counts on it

 private:
  std::filesystem::path path_;
  io::FileSystem& file_system_;
  int file_;
};

/// Cuts the file behind what a checkpoint at `step` knows of: events of later steps, its own evaluation unless that was
/// done, a torn line. Returns the number of bytes cut off.
uint64_t rewind_events(const std::filesystem::path& path, int64_t step, bool evaluated);

/// Writes the evaluations as a table, a line each: step, epoch, the metrics, and what was measured of training since
/// the evaluation before.
void write_summary(const std::filesystem::path& path, const std::vector<Event>& events);

}  // namespace cachet::train
