#pragma once

#include <c10/core/InferenceMode.h>

#include <atomic>
#include <memory>

namespace cachet::nn {

/// What was made for the last input, kept because the next one mostly asks for the same. Any number of threads may ask.
template <class Value>
class Memoized {
 public:
  Memoized() = default;
  /// A copy has kept nothing yet: it may go to another device.
  Memoized(const Memoized&) {}
  Memoized& operator=(const Memoized&) {
    value_.store(nullptr);
    return *this;
  }

  /// The kept value if `serves(value)`, else make()'s, which is then kept.
  template <class Serves, class Make>
  std::shared_ptr<const Value> get(const Serves& serves, const Make& make) {
    auto kept = value_.load();
    if (kept && serves(*kept)) return kept;
    // Tensors of inference mode would be no good to a later call that trains.
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
