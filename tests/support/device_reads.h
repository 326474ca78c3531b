#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <string_view>

namespace cachet::test {

/// While it lives, counts how often a number is read from a tensor, which waits for the tensor's device. One at a time.
class DeviceReads {
 public:
  DeviceReads() {
    number() = 0;
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  }
  DeviceReads(const DeviceReads&) = delete;
  DeviceReads& operator=(const DeviceReads&) = delete;
  ~DeviceReads() { at::removeCallback(handle_); }

  /// Since it was made, or since the last call.
  int taken() { return number().exchange(0); }

 private:
  static std::atomic<int>& number() {
    static std::atomic<int> reads = 0;
    return reads;
  }
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    if (std::string_view(function.name()) == "aten::_local_scalar_dense") ++number();
    return nullptr;
  }

  at::CallbackHandle handle_;
};

}  // namespace cachet::test
