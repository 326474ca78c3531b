#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cachet::data {

/// Digests of the bytes of image files, taken as the files are read to be decoded, by any thread. Nothing is taken
/// before keep(): a digest costs a few per cent of the decoding.
class ImageDigests {
 public:
  void keep() { kept_ = true; }
  bool is_kept() const { return kept_; }

  void add(int64_t image, std::string digest);
  /// Of the bytes that were read last.
  std::optional<std::string> find(int64_t image) const;
  /// Those that were read, in rising order.
  std::vector<int64_t> images() const;

 private:
  std::atomic<bool> kept_ = false;
  mutable std::mutex mutex_;
  std::map<int64_t, std::string> digests_;
};

}  // namespace cachet::data
