#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cachet::data {

/// Digests of the bytes of image files. Any thread computes them when it reads a file for decoding. None are computed
/// before keep(), because a digest costs a few per cent of the decoding.
class ImageDigests {
 public:
  void keep() { kept_ = true; }
  bool is_kept() const { return kept_; }

  void add(int64_t image, std::string digest);
  /// Returns the digest of the bytes that were read last.
  std::optional<std::string> find(int64_t image) const;
  /// Returns the images with a digest, in ascending order.
  std::vector<int64_t> images() const;

 private:
  std::atomic<bool> kept_ = false;
  mutable std::mutex mutex_;
  std::map<int64_t, std::string> digests_;
};

}  // namespace cachet::data
