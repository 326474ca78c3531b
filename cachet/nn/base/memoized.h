#pragma once

#include <c10/core/InferenceMode.h>

#include <atomic>
#include <memory>

namespace cachet::nn {

/// Stores a value for the last input, because the next input mostly needs the same value. Several
/// threads may call get() at once.
template <class Value>
class Memoized {
 public:
  Memoized() = default;
  /// A copy has no stored value, because the copy may move to another device.
  Memoized(const Memoized&) {}
  Memoized& operator=(const Memoized&) {
    value_.store(nullptr);
    return *this;
  }

  /// Returns the stored value if serves(value) is true; otherwise stores the result of make() and returns it.
  template <class Serves, class Make>
  std::shared_ptr<const Value> get(const Serves& serves, const Make& make) {
    auto kept = value_.load();
    if (kept && serves(*kept)) return kept;
    // Without this guard, a later training call could not use a tensor that was made in inference mode.
    const c10::InferenceMode normal(false);
    kept = std::make_shared<const Value>(make());
    value_.store(kept);
    return kept;
  }

 private:
  std::atomic<std::shared_ptr<const Value>> value_;
};

template <class Value>
using Latest [[deprecated("Memoized")]] = Memoized<Value>;

}  // namespace cachet::nn
