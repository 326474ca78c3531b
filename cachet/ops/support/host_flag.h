#pragma once

namespace cachet::ops {

/// A module that stores one fact about its buffers on the host (such as whether a cache holds a step), so that a pass
/// does not read the device. If code stores copies of the buffers outside the module, it must store the flag with each
/// copy. When such code writes a copy into the module again, it must then set the flag. If other code writes the
/// buffers without setting the flag on the host, the module reads the device once.
class HostFlag {
 public:
  virtual ~HostFlag() = default;
  virtual bool host_flag() const = 0;
  /// Sets the flag that belongs to the current values of the buffers.
  virtual void set_host_flag(bool flag) = 0;
};

}  // namespace cachet::ops
