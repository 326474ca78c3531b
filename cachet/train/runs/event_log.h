#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cachet/io/files/growing_file.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// One line of metrics.jsonl, with the measurements at a step (described in docs/training.md).
struct Event {
  enum class Kind { step, evaluation };
  Kind kind = Kind::step;
  int64_t step = 0;
  int64_t epoch = 0;
  Metrics metrics;             // values that are equal in every run of the same recipe
  std::vector<Series> series;  // series that are equal in every run of the same recipe
  Metrics machine;             // times, rates and memory, which differ from run to run
};

inline constexpr const char* kUnixTime = "unix_time";  // in Event::machine: time of logging, seconds since 1970
double unix_time();                                    // returns the current time, in seconds since 1970
/// Returns a time in UTC, formatted as by std::strftime, in at most 39 characters.
std::string utc_text(double unix_time, const char* format);

std::string to_json_line(const Event& event);

/// The contents of a file of events.
struct EventFile {
  std::vector<Event> events;
  int64_t damaged_lines = 0;  // number of lines that are not events
  bool is_torn = false;       // whether the last line has no end, because it is being written or its process was killed
};
/// Reads a file of events. If the file is missing, the result is empty. Throws io::Error if the file is unreadable or
/// not a regular file, and io::NewerSchema if a newer version of Cachet wrote the file.
EventFile read_event_file(const std::filesystem::path& path);
/// Reads a file of events, and returns only EventFile::events.
std::vector<Event> read_events(const std::filesystem::path& path);

/// A growing file of events. Each event is written by a single call of write. Throws io::Error.
class EventLog {
 public:
  explicit EventLog(std::filesystem::path path, io::FileSystem& file_system = io::FileSystem::real())
      : file_(std::move(path), file_system) {}

  void append(const Event& event) { file_.append(to_json_line(event)); }
  void sync() { file_.sync(); }  // writes to the disk, before a checkpoint that depends on it

 private:
  io::GrowingFile file_;
};

struct RewoundEvents {
  uint64_t bytes = 0;         // number of bytes that were cut off
  int64_t damaged_lines = 0;  // number of damaged lines before the cut, which stay
};

/// Cuts the file after the events up to a checkpoint at `step`: removes events of later steps, an incomplete last line,
/// and, if `evaluated` is false, this step's evaluation. A damaged line affects no other line. Throws io::Error.
RewoundEvents rewind_events(const std::filesystem::path& path, int64_t step, bool evaluated);

}  // namespace cachet::train
