#pragma once

namespace cachet::ops {

/// A module that knows one fact about its buffers on the host, such as whether a cache holds something, so that a pass
/// does not read it from a device. If copies of the buffers are stored outside the module, the flag is stored with each
/// copy, and set after the copy is written back. If the flag is not set after the buffers have been written, the module
/// reads the device once.
class HostFlag {
 public:
  virtual ~HostFlag() = default;
  virtual bool host_flag() const = 0;
  /// Sets the flag for the present buffers.
  virtual void set_host_flag(bool flag) = 0;
};

}  // namespace cachet::ops
