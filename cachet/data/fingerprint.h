#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/digests/sha256.h"

namespace cachet::data {

/// A digest of numbers and texts, which depends on the order in which they are added.
class Fingerprint {
 public:
  Fingerprint& add(int64_t number);
  Fingerprint& add(std::string_view text);
  Fingerprint& add(std::span<const int64_t> numbers);
  Fingerprint& add(std::span<const std::byte> bytes);

  /// Calls `add_sample` for up to 4,096 of `size` samples, evenly spaced, including the first and the last sample.
  /// Cachet 0.1.0 identified a data set only by the samples that for_some() selects.
  static void for_some(int64_t size, const std::function<void(int64_t index)>& add_sample);

  std::string text();  // 16 hexadecimal digits

 private:
  io::Sha256 digest_;
};

}  // namespace cachet::data
