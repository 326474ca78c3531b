#pragma once

namespace cachet::train {

/// Returns the seconds of a monotonic clock. The durations of a run are measured with this clock.
double clock_seconds();

/// For tests: during the object's lifetime, only advance() moves clock_seconds(). At most one PlayedClock may exist at
/// a time.
class PlayedClock {
 public:
  PlayedClock();
  ~PlayedClock();
  PlayedClock(const PlayedClock&) = delete;
  PlayedClock& operator=(const PlayedClock&) = delete;

  void advance(double seconds);
};

}  // namespace cachet::train
