#pragma once

#include <c10/core/InferenceMode.h>

#include <atomic>
#include <memory>

#include "cachet/ops/support/retained_values.h"

namespace cachet::nn {

/// Stores the value that was computed for the last input, because the next call mostly needs the same value. Several
/// threads may call get() at once.
template <class Value>
class Memoized {
 public:
  Memoized() = default;
  /// A copy of a Memoized object has no stored value, because the copy may move to another device.
  Memoized(const Memoized&) {}
  Memoized& operator=(const Memoized&) {
    value_.store(nullptr);
    return *this;
  }

  /// Returns a value for which serves(value) is true: a value of an earlier pass (RetainedValues) or the stored value.
  /// If there is none, stores and returns the result of make().
  template <class Serves, class Make>
  std::shared_ptr<const Value> get(const Serves& serves, const Make& make) {
    auto value = std::static_pointer_cast<const Value>(ops::RetainedValues::find(
        this, [&](const void* earlier) { return serves(*static_cast<const Value*>(earlier)); }));
    if (!value) value = value_.load();
    if (!value || !serves(*value)) {
      // Without the guard `normal`, a later training call could not use a tensor that was made in inference mode.
      const c10::InferenceMode normal(false);
      value = std::make_shared<const Value>(make());
      value_.store(value);
    }
    ops::RetainedValues::add(this, value);
    return value;
  }

 private:
  std::atomic<std::shared_ptr<const Value>> value_;
};

template <class Value>
using Latest [[deprecated("Memoized")]] = Memoized<Value>;

}  // namespace cachet::nn
