#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/io/error.h"

namespace cachet::io {

/// The output buffer of a decoder. The buffer grows with the decoded bytes up to `max_bytes`, whatever size the
/// compressed file states. If `take` is set, the output is passed to `take` in pieces, and only one piece is in memory.
class GrowingOutput {
 public:
  using TakePiece = std::function<void(std::span<const uint8_t> piece)>;

  GrowingOutput(uint64_t max_bytes, std::string_view name, TakePiece take = {})
      : max_bytes_(max_bytes), name_(name), take_(std::move(take)) {}

  /// Returns the free part of the buffer, where the decoder writes its next bytes. The buffer may hold one byte more
  /// than `max_bytes`, so that filled() notices if the output is too long.
  std::span<uint8_t> room() {
    if (take_ && used_ == kPiece) give();
    if (used_ == bytes_.size())
      bytes_.resize(take_ ? kPiece : std::min(max_bytes_ + 1, std::max<uint64_t>(kFirst, 2 * used_)));
    return std::span(bytes_).subspan(used_);
  }

  /// Records that `count` bytes of the memory of room() were filled. Throws Error if the output exceeds `max_bytes`.
  void filled(size_t count) {
    used_ += count;
    if (given_ + used_ <= max_bytes_) return;
    throw Error(std::string(name_) + ": the decompressed data have more than " + std::to_string(max_bytes_) +
                " bytes, which is the limit");
  }

  std::vector<uint8_t> take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }
  /// If `take` is set, passes the last piece of output to `take`.
  void finish() {
    if (used_ > 0) give();
  }

 private:
  static constexpr uint64_t kFirst = 64 * 1024, kPiece = uint64_t{1} << 20;

  void give() {
    take_(std::span<const uint8_t>(bytes_).first(used_));
    given_ += used_;
    used_ = 0;
  }

  uint64_t max_bytes_;
  std::string_view name_;
  TakePiece take_;
  uint64_t given_ = 0;
  std::vector<uint8_t> bytes_;
  size_t used_ = 0;
};

}  // namespace cachet::io
