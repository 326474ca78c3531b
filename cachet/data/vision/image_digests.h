#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cachet::data {

/// Digests of the bytes of image files. The thread that reads a file for decoding also computes the file's digest. No
/// digests are computed before keep(), because a digest takes a few per cent of the decoding time.
class ImageDigests {
 public:
  void keep() { kept_ = true; }
  bool is_kept() const { return kept_; }

  void add(int64_t image, std::string digest);
  /// Returns the digest of the image's bytes when they were last read, or std::nullopt if the image was not read.
  std::optional<std::string> find(int64_t image) const;
  /// Returns the indices of the images whose digests were computed, in ascending order.
  std::vector<int64_t> images() const;

 private:
  std::atomic<bool> kept_ = false;
  mutable std::mutex mutex_;
  std::map<int64_t, std::string> digests_;
};

}  // namespace cachet::data
