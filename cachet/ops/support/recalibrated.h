#pragma once

namespace cachet::ops {

/// A module that stores values of the data that pass through it in training: running statistics, a cache. A renewal
/// makes these values anew. They then depend only on the passes in training mode between its two calls, not on earlier
/// passes. Passes of evaluation do not count.
class Recalibrated {
 public:
  virtual ~Recalibrated() = default;
  virtual void begin_renewal() = 0;
  /// If no pass had a token, the earlier state does not change.
  virtual void end_renewal() = 0;
};

using Renewable [[deprecated("Recalibrated")]] = Recalibrated;

}  // namespace cachet::ops
