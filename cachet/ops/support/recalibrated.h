#pragma once

namespace cachet::ops {

/// A module that stores values of the data that it processes in training: running statistics, a cache. A renewal
/// computes these values again. They then depend only on the training passes between begin_renewal() and end_renewal(),
/// and not on earlier passes or on evaluation.
class Recalibrated {
 public:
  virtual ~Recalibrated() = default;
  virtual void begin_renewal() = 0;
  /// Ends the renewal. If no pass had a token, the state is the same as before the renewal.
  virtual void end_renewal() = 0;
};

using Renewable [[deprecated("Recalibrated")]] = Recalibrated;

}  // namespace cachet::ops
