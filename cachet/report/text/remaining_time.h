#pragma once

#include <optional>

namespace cachet::report {

/// Guesses the time left from how fast the work went, recent work counting more. Pauses between updates (evaluations,
/// checkpoints) count as work at the same speed.
class RemainingTime {
 public:
  /// Records that `done` of `total` units are done at `now` (seconds of any clock). Units done before the first call
  /// (of a resumed run), or before `done` decreased, do not count for the speed.
  void update(double done, double total, double now);

  /// Returns the seconds left. Empty before two updates with progress.
  std::optional<double> seconds(double now) const;

 private:
  bool started_ = false;
  double begin_ = 0, last_time_ = 0, last_done_ = 0, left_ = 0;
  double work_ = 0, time_ = 0;  // units and their seconds, with fading weight
};

}  // namespace cachet::report
