#pragma once

namespace cachet::ops {

/// A module that stores values of the data that pass through it in training: running statistics, a cache. A renewal
/// computes them anew. The values then depend only on training passes between begin_renewal() and end_renewal(),
/// not on earlier passes or on passes of evaluation.
class Recalibrated {
 public:
  virtual ~Recalibrated() = default;
  virtual void begin_renewal() = 0;
  /// Ends the renewal. If no pass had a token, the earlier state does not change.
  virtual void end_renewal() = 0;
};

using Renewable [[deprecated("Recalibrated")]] = Recalibrated;

}  // namespace cachet::ops
