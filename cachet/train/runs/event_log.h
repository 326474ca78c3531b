#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cachet/io/files/growing_file.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// One line of metrics.jsonl: what was measured at a step. Docs: docs/training.md.
struct Event {
  enum class Kind { step, evaluation };
  Kind kind = Kind::step;
  int64_t step = 0;
  int64_t epoch = 0;
  Metrics metrics;             // the same in every run of the same recipe
  std::vector<Series> series;  // likewise
  Metrics machine;             // times, rates, memory: what differs from run to run
};

inline constexpr const char* kUnixTime = "unix_time";  // in Event::machine: when it was logged, seconds since 1970
double unix_time();                                    // now
/// In UTC, as std::strftime writes it. At most 39 characters.
std::string utc_text(double unix_time, const char* format);

std::string to_json_line(const Event& event);

/// What a file of events holds.
struct EventFile {
  std::vector<Event> events;
  int64_t damaged_lines = 0;  // that are not events
  bool is_torn = false;       // whether the last line has no end: it is being written, or its process was killed
};
/// A missing file has no events. Throws io::Error if it cannot be read or is not a regular file, io::NewerSchema.
EventFile read_event_file(const std::filesystem::path& path);
/// Its events alone.
std::vector<Event> read_events(const std::filesystem::path& path);

/// A file of events that only grows. Each event is one write. Throws io::Error.
class EventLog {
 public:
  explicit EventLog(std::filesystem::path path, io::FileSystem& file_system = io::FileSystem::real())
      : file_(std::move(path), file_system) {}

  void append(const Event& event) { file_.append(to_json_line(event)); }
  void sync() { file_.sync(); }  // to the disk, before a checkpoint counts on it

 private:
  io::GrowingFile file_;
};

struct RewoundEvents {
  uint64_t bytes = 0;         // that were cut off
  int64_t damaged_lines = 0;  // before them, which stay
};

/// Cuts the file after the events that a checkpoint at `step` knows. This removes events of later steps, its own
/// evaluation unless that was done, and a torn line. A damaged line costs only itself. Throws io::Error.
RewoundEvents rewind_events(const std::filesystem::path& path, int64_t step, bool evaluated);

}  // namespace cachet::train
