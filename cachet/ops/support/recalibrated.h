#pragma once

namespace cachet::ops {

/// A module that stores values of the data that it processes in training: running statistics, a cache. Recalibration,
/// from begin_renewal() to end_renewal(), computes the stored values again from training passes. After recalibration,
/// the stored values depend only on the training passes between begin_renewal() and end_renewal(), and not on earlier
/// passes or on evaluation.
class Recalibrated {
 public:
  virtual ~Recalibrated() = default;
  virtual void begin_renewal() = 0;
  /// Ends recalibration. If no pass since begin_renewal() had a valid token, the previous statistics remain.
  virtual void end_renewal() = 0;
};

using Renewable [[deprecated("Recalibrated")]] = Recalibrated;

}  // namespace cachet::ops
