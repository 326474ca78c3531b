#pragma once

#include <optional>

namespace cachet::report {

/// Estimates the time left from the speed of the work so far; recent work has more weight. The time of the work
/// includes pauses between updates (evaluations, checkpoints).
class RemainingTime {
 public:
  /// Records that `done` of `total` units are done at `now` (seconds of any clock). The speed excludes units that were
  /// done before the first call (in a resumed run) or before `done` decreased.
  void update(double done, double total, double now);

  /// Returns the estimated number of seconds left, or std::nullopt before the second update with progress.
  std::optional<double> seconds(double now) const;

 private:
  bool started_ = false;
  double begin_ = 0, last_time_ = 0, last_done_ = 0, left_ = 0;
  double work_ = 0, time_ = 0;  // finished units and their seconds; older ones have less weight
};

}  // namespace cachet::report
