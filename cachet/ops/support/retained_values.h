#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace cachet::ops {

/// During its lifetime, collects all values that Memoized objects return in this thread. A recorded pass holds them:
/// when another input size replaces a memoized value, the recording still has the tensors that it reads. The values of
/// an earlier pass can be given to a later pass of the same input sizes, which then uses the same tensors instead of
/// making new ones. At most one object of this class may exist in a thread.
class RetainedValues {
 public:
  struct Value {
    const void* owner;  // the Memoized object
    std::shared_ptr<const void> value;
  };

  /// `earlier` are the values of an earlier pass. The objects that own them must still exist.
  explicit RetainedValues(std::vector<Value> earlier = {});
  RetainedValues(const RetainedValues&) = delete;
  RetainedValues& operator=(const RetainedValues&) = delete;
  ~RetainedValues();

  std::vector<Value> take();

  /// Adds a value to the object of this thread, if one exists.
  static void add(const void* owner, const std::shared_ptr<const void>& value);
  /// Returns the first earlier value of `owner` for which `serves` returns true, or null.
  static std::shared_ptr<const void> find(const void* owner, const std::function<bool(const void*)>& serves);

 private:
  std::vector<Value> earlier_, values_;
};

}  // namespace cachet::ops
