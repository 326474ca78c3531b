#pragma once

namespace cachet::ops {

/// A module that stores one fact about its buffers on the host (such as whether a cache holds a step), so that a pass
/// does not read the device. If code stores copies of the buffers outside the module, it must store the host flag with
/// each copy. Code that writes a stored copy back into the module must also set the flag that was stored with the copy.
/// If code writes the buffers but does not set the flag, the module determines it once from the buffers on the device.
class HostFlag {
 public:
  virtual ~HostFlag() = default;
  virtual bool host_flag() const = 0;
  /// Sets the host flag, which must match the current values of the module's buffers.
  virtual void set_host_flag(bool flag) = 0;
};

}  // namespace cachet::ops
