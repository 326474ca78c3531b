#include "cachet/io/compression/zip_directory.h"

#include <algorithm>
#include <optional>

#include "cachet/io/error.h"
#include "cachet/io/little_endian.h"

namespace cachet::io {
namespace {

constexpr uint64_t kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20, kEntryBytes = 46;
constexpr uint32_t kEndSignature = 0x06054B50, kEnd64Signature = 0x06064B50, kLocatorSignature = 0x07064B50,
                   kEntrySignature = 0x02014B50;
constexpr uint32_t kIn64 = 0xFFFFFFFF;  // a 32-bit field whose number stands in a 64-bit one
constexpr uint16_t kIn64Count = 0xFFFF;

/// The bytes of a structure that is read field by field.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class Int>
  Int at(size_t position) const {
    return little_endian<Int>(bytes_, position);
  }

 private:
  std::span<const std::byte> bytes_;
};

class DirectoryReader {
 public:
  DirectoryReader(const ByteSource& source, const std::string& file, const ZipLimits& limits)
      : source_(source), file_(file), limits_(limits) {}

  ZipDirectory read() {
    read_end();
    read_end64();
    if (entries_ > limits_.members)
      fail("has " + std::to_string(entries_) + " members; the maximum is " + std::to_string(limits_.members));
    if (bytes_ > limits_.directory_bytes)
      fail("has a directory of " + std::to_string(bytes_) + " bytes; the maximum is " +
           std::to_string(limits_.directory_bytes));
    if (bytes_ > end_ || begin_ != end_ - bytes_) fail("the directory must be at the end of the archive");
    if (entries_ > bytes_ / kEntryBytes) fail("states more members than its directory can have");
    return {entries(), begin_};
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw Error(file_ + ": " + message); }
  [[noreturn]] void fail(const ZipEntry& entry, const std::string& message) const {
    fail("member " + in_quotes(entry.name) + " " + message);
  }

  std::vector<std::byte> bytes_at(uint64_t position, uint64_t size) const {
    std::vector<std::byte> bytes(size);
    source_.read_at(position, bytes);
    return bytes;
  }

  void read_end() {
    if (source_.size() < kEndBytes) fail("is too short for a zip archive");
    end_ = source_.size() - kEndBytes;
    const auto bytes = bytes_at(end_, kEndBytes);
    const Fields end(bytes);
    if (end.at<uint32_t>(0) != kEndSignature)
      fail("does not end with the directory of a zip archive: the file was truncated, or bytes were added at its end");
    if (end.at<uint16_t>(20) != 0) fail("has a comment after its directory, which is not allowed");
    if (end.at<uint16_t>(4) != 0 || end.at<uint16_t>(6) != 0 || end.at<uint16_t>(8) != end.at<uint16_t>(10))
      fail("is one volume of an archive with several volumes, which is not supported");
    entries_ = end.at<uint16_t>(10);
    bytes_ = end.at<uint32_t>(12);
    begin_ = end.at<uint32_t>(16);
  }

  /// A 64-bit directory end stands before the other one, which has the same numbers or marks that they do not fit.
  void read_end64() {
    const bool needed = entries_ == kIn64Count || bytes_ == kIn64 || begin_ == kIn64;
    const auto locator_bytes = bytes_at(end_ - std::min(end_, kLocatorBytes), std::min(end_, kLocatorBytes));
    const Fields locator(locator_bytes);
    const bool found = locator_bytes.size() == kLocatorBytes && locator.at<uint32_t>(0) == kLocatorSignature;
    if (!found && needed) fail("needs an end record of its zip64 directory, but has none");
    if (!found) return;
    const uint64_t record = locator.at<uint64_t>(8);
    if (locator.at<uint32_t>(4) != 0 || locator.at<uint32_t>(16) != 1)
      fail("is one volume of an archive with several volumes, which is not supported");
    if (end_ < kLocatorBytes + kEnd64Bytes || record != end_ - kLocatorBytes - kEnd64Bytes)
      fail("the end record of the zip64 directory must be at the stated offset");
    end_ = record;
    const auto bytes = bytes_at(end_, kEnd64Bytes);
    const Fields end(bytes);
    if (end.at<uint32_t>(0) != kEnd64Signature || end.at<uint64_t>(4) != kEnd64Bytes - 12)
      fail("the end record of the zip64 directory must be at the stated offset");
    if (end.at<uint32_t>(16) != 0 || end.at<uint32_t>(20) != 0 || end.at<uint64_t>(24) != end.at<uint64_t>(32))
      fail("is one volume of an archive with several volumes, which is not supported");
    entries_ = agreed(entries_, kIn64Count, end.at<uint64_t>(32));
    bytes_ = agreed(bytes_, kIn64, end.at<uint64_t>(40));
    begin_ = agreed(begin_, kIn64, end.at<uint64_t>(48));
  }

  uint64_t agreed(uint64_t narrow, uint64_t absent, uint64_t wide) const {
    if (narrow != absent && narrow != wide)
      fail("the end record of its directory contradicts the end record of its zip64 directory");
    return wide;
  }

  std::vector<ZipEntry> entries() const {
    const auto directory = bytes_at(begin_, bytes_);
    std::span<const std::byte> rest = directory;
    std::vector<ZipEntry> all;
    all.reserve(entries_);
    for (uint64_t i = 0; i < entries_; ++i) all.push_back(take_entry(rest));
    if (!rest.empty()) fail("has bytes after the last entry of its directory");
    return all;
  }

  ZipEntry take_entry(std::span<const std::byte>& rest) const {
    if (rest.size() < kEntryBytes) fail("its directory is truncated");
    const Fields fields(rest.first(kEntryBytes));
    if (fields.at<uint32_t>(0) != kEntrySignature) fail("its directory is damaged");
    const size_t name = fields.at<uint16_t>(28), extra = fields.at<uint16_t>(30), comment = fields.at<uint16_t>(32);
    if (rest.size() - kEntryBytes < name + extra + comment) fail("its directory is truncated");
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char*>(rest.data()) + kEntryBytes, name);
    check_name(entry);
    check_storage(entry, fields);
    if (comment != 0) fail(entry, "has a comment, which is not allowed");
    entry.flags = fields.at<uint16_t>(8);
    entry.crc = fields.at<uint32_t>(16);
    read_sizes(entry, fields, rest.subspan(kEntryBytes + name, extra));
    rest = rest.subspan(kEntryBytes + name + extra);
    return entry;
  }

  void check_name(const ZipEntry& entry) const {
    const std::string& name = entry.name;
    if (name.empty()) fail("a member has no name");
    if (name.size() > limits_.name_bytes)
      fail("a member's name has " + std::to_string(name.size()) + " bytes; the maximum is " +
           std::to_string(limits_.name_bytes));
    for (const char symbol : name)
      if (static_cast<unsigned char>(symbol) < 0x20 || symbol == 0x7F || symbol == '\\')
        fail(entry, "has control characters or a backslash in its name");
    if (name.back() == '/') fail(entry, "is a folder, but torch.save does not write folders");
    if (("/" + name + "/").find("/../") != std::string::npos || name.front() == '/')
      fail(entry, "has a name that leads outside the archive");
  }

  void check_storage(const ZipEntry& entry, const Fields& fields) const {
    constexpr uint32_t kKindOfFile = 0170000, kRegularFile = 0100000;
    const uint16_t flags = fields.at<uint16_t>(8), method = fields.at<uint16_t>(10);
    const uint32_t kind = (fields.at<uint32_t>(38) >> 16) & kKindOfFile;
    if ((flags & 1U) != 0) fail(entry, "is encrypted");
    if ((flags & ~(kZipSizesBehind | kZipNameIsUtf8)) != 0) fail(entry, "has flags that torch.save does not set");
    if (method != 0)
      fail(entry, "is compressed (method " + std::to_string(method) +
                      "); torch.save does not compress members, but other tools and TorchScript do");
    if (kind != 0 && kind != kRegularFile) fail(entry, "is a link, a folder or a device");
    if (fields.at<uint16_t>(34) != 0) fail(entry, "is in another volume of the archive");
  }

  void read_sizes(ZipEntry& entry, const Fields& fields, std::span<const std::byte> extra) const {
    uint64_t compressed = fields.at<uint32_t>(20);
    entry.size = fields.at<uint32_t>(24);
    entry.header = fields.at<uint32_t>(42);
    std::optional<std::span<const std::byte>> wide = wide_fields(entry, extra);
    for (uint64_t* value : {&entry.size, &compressed, &entry.header}) {  // in the order of the wide fields
      if (*value != kIn64) continue;
      if (!wide || wide->size() < sizeof(uint64_t)) fail(entry, "needs zip64 sizes, but has none");
      *value = little_endian<uint64_t>(*wide, 0);
      wide = wide->subspan(sizeof(uint64_t));
    }
    if (wide && !wide->empty()) fail(entry, "has zip64 sizes in addition to its 32-bit sizes");
    if (compressed != entry.size) fail(entry, "is not compressed, but its compressed and uncompressed sizes differ");
    if (entry.header >= begin_ || entry.size >= begin_ - entry.header) fail(entry, "must end before the directory");
  }

  std::optional<std::span<const std::byte>> wide_fields(const ZipEntry& entry, std::span<const std::byte> extra) const {
    constexpr uint16_t kWide = 1;
    std::optional<std::span<const std::byte>> found;
    while (!extra.empty()) {
      const bool whole = extra.size() >= 4 && little_endian<uint16_t>(extra, 2) <= extra.size() - 4;
      if (!whole) fail(entry, "has extra fields that are truncated");
      const size_t size = little_endian<uint16_t>(extra, 2);
      if (little_endian<uint16_t>(extra, 0) == kWide) {
        if (found) fail(entry, "has zip64 sizes twice");
        found = extra.subspan(4, size);
      }
      extra = extra.subspan(4 + size);
    }
    return found;
  }

  const ByteSource& source_;
  const std::string& file_;
  const ZipLimits& limits_;
  uint64_t entries_ = 0, bytes_ = 0, begin_ = 0;  // of the directory
  uint64_t end_ = 0;                              // where the directory ends
};

}  // namespace

ZipDirectory read_zip_directory(const ByteSource& source, const std::string& file, const ZipLimits& limits) {
  return DirectoryReader(source, file, limits).read();
}

}  // namespace cachet::io
