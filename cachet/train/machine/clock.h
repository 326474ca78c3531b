#pragma once

namespace cachet::train {

/// Returns the seconds of a clock that never goes back. A run measures its durations with it.
double clock_seconds();

/// For tests: during its lifetime, only advance() moves clock_seconds(). At most one such object may exist.
class PlayedClock {
 public:
  PlayedClock();
  ~PlayedClock();
  PlayedClock(const PlayedClock&) = delete;
  PlayedClock& operator=(const PlayedClock&) = delete;

  void advance(double seconds);
};

}  // namespace cachet::train
