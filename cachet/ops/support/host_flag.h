#pragma once

namespace cachet::ops {

/// A module that stores one fact about its buffers on the host (such as whether a cache holds a step), so that a pass
/// does not read the device. Code that stores copies of the buffers outside the module stores the flag with each copy,
/// and sets the flag after it writes a copy into the module again. If other code writes the buffers without setting the
/// flag, the module reads the device once.
class HostFlag {
 public:
  virtual ~HostFlag() = default;
  virtual bool host_flag() const = 0;
  /// Sets the flag for the current values of the buffers.
  virtual void set_host_flag(bool flag) = 0;
};

}  // namespace cachet::ops
