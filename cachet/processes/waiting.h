#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cachet::processes {

/// The options of the reports that a process makes while it waits for other processes.
struct WaitingOptions {
  std::function<void(const std::string& line)> report{};  // receives each report; may be empty
  std::chrono::milliseconds report_every = std::chrono::seconds(10);
};

/// Returns the names of processes: "process 2", "processes 1, 2 and 5".
std::string names_of(const std::vector<int64_t>& ranks);

/// One wait for other processes. The caller checks whether the other processes have arrived, and calls pause() between
/// two checks.
class Wait {
 public:
  /// `most`: the time limit of the wait; empty: no limit.
  explicit Wait(const WaitingOptions& options, std::optional<std::chrono::milliseconds> most = std::nullopt);

  /// Sleeps for a moment and returns true; returns false after the time limit. If a report is due, reports "waiting for
  /// <whom()> (10 s)".
  bool pause(const std::function<std::string()>& whom);

 private:
  using Clock = std::chrono::steady_clock;

  const WaitingOptions& options_;
  std::optional<std::chrono::milliseconds> most_;
  Clock::time_point start_ = Clock::now(), next_report_;
};

}  // namespace cachet::processes
