#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cachet/io/files/read_file.h"

namespace cachet::io {

/// Bytes that can be read at any position.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  /// Reads `bytes` from `position` on. All requested bytes must lie within size(). Throws io::Error.
  virtual void read_at(uint64_t position, std::span<std::byte> bytes) const = 0;
};

/// The bytes of a regular file.
class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path) : file_(path) {}
  uint64_t size() const override { return file_.size(); }
  void read_at(uint64_t position, std::span<std::byte> bytes) const override { file_.read_at(position, bytes); }

 private:
  InputFile file_;
};

/// Bytes in memory. The bytes must outlive this object, which does not copy them.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> memory) : memory_(memory) {}
  uint64_t size() const override { return memory_.size(); }
  void read_at(uint64_t position, std::span<std::byte> bytes) const override {
    std::ranges::copy(memory_.subspan(position, bytes.size()), bytes.begin());
  }

 private:
  std::span<const std::byte> memory_;
};

}  // namespace cachet::io
