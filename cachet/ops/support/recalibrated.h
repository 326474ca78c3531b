#pragma once

namespace cachet::ops {

/// A module that keeps something of the data that pass through it in training: running statistics, a cache. A renewal
/// makes this from nothing: it is a function of the passes in training mode between its two calls, and of no earlier
/// one. Passes of evaluation do not count.
class Recalibrated {
 public:
  virtual ~Recalibrated() = default;
  virtual void begin_renewal() = 0;
  /// If no pass has seen a token, the earlier state stays.
  virtual void end_renewal() = 0;
};

using Renewable [[deprecated("Recalibrated")]] = Recalibrated;

}  // namespace cachet::ops
