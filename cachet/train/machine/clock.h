#pragma once

namespace cachet::train {

/// Seconds of a clock that never goes back. What a run measures of itself goes by it.
double clock_seconds();

/// For tests: while it lives, clock_seconds() stands still but for what advance() adds. One at a time.
class PlayedClock {
 public:
  PlayedClock();
  ~PlayedClock();
  PlayedClock(const PlayedClock&) = delete;
  PlayedClock& operator=(const PlayedClock&) = delete;

  void advance(double seconds);
};

}  // namespace cachet::train
