#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cachet::train {

/// A copy of numbers from a device to the host. The copy may still be under way.
class HostRead {
 public:
  virtual ~HostRead() = default;
  /// Waits for the copy and returns the numbers as float64.
  virtual std::vector<double> wait() = 0;
};

/// Runs the device work of training steps: calls a function that launches the operations, or replays the operations of
/// an earlier call. All calls of one executor come from one thread, and all work runs in order.
class StepExecutor {
 public:
  virtual ~StepExecutor() = default;

  /// Runs `work`, or replays an earlier run with the same `key`. With equal keys, `work` makes the same calls on
  /// tensors at the same addresses and with the same host numbers; only the values of the tensors differ. An executor
  /// that replays first runs `work` at least once. If `work` throws, the exception is passed on.
  virtual void run(const std::string& key, const std::function<void()>& work) = 0;

  /// Runs `work`, which is never replayed.
  virtual void run_directly(const std::function<void()>& work) { work(); }

  /// Forgets all earlier runs, because addresses of tensors have changed.
  virtual void forget() = 0;

  /// Copies host numbers into a float64 vector on the device, in order with the work.
  virtual void write(const std::vector<double>& numbers, const at::Tensor& vector) = 0;

  /// Returns notes for the log since the last call, such as the reason why a step cannot be replayed.
  virtual std::vector<std::string> take_notes() { return {}; }

  /// Copies a float64 vector to the host, in order with the work. Later work may overwrite the vector.
  virtual std::unique_ptr<HostRead> read(const at::Tensor& vector) = 0;
};

/// Returns an executor that calls each function, and copies numbers at once.
std::unique_ptr<StepExecutor> make_direct_executor();

}  // namespace cachet::train
