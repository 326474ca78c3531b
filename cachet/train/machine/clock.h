#pragma once

namespace cachet::train {

/// Returns the seconds of a clock that never goes back. This clock measures the durations of a run.
double clock_seconds();

/// For tests: during the object's lifetime, only advance() moves clock_seconds(). At most one such object may exist.
class PlayedClock {
 public:
  PlayedClock();
  ~PlayedClock();
  PlayedClock(const PlayedClock&) = delete;
  PlayedClock& operator=(const PlayedClock&) = delete;

  void advance(double seconds);
};

}  // namespace cachet::train
