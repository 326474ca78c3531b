#pragma once

#include <cstdint>

namespace cachet::data {

/// One long sequence of token ids.
class TokenSequence {
 public:
  virtual ~TokenSequence() = default;
  virtual int64_t size() const = 0;
  /// Writes `count` ids from index `first` on to `out`. Thread-safe. Throws std::out_of_range for an invalid index.
  virtual void read(int64_t first, int64_t count, int64_t* out) const = 0;
};

}  // namespace cachet::data
