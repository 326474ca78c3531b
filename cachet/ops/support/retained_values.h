#pragma once

#include <memory>
#include <vector>

namespace cachet::ops {

/// During its lifetime, collects all values that Memoized objects return in this thread. A recorded pass holds them:
/// when another input size replaces a memoized value, the recording still has the tensors that it reads. At most one
/// object of this class may exist in a thread.
class RetainedValues {
 public:
  RetainedValues();
  RetainedValues(const RetainedValues&) = delete;
  RetainedValues& operator=(const RetainedValues&) = delete;
  ~RetainedValues();

  std::vector<std::shared_ptr<const void>> take();

  /// Adds a value to the object of this thread, if one exists.
  static void add(const std::shared_ptr<const void>& value);

 private:
  std::vector<std::shared_ptr<const void>> values_;
};

}  // namespace cachet::ops
