#include "cachet/io/compression/zip_archive.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cachet/io/compression/zip_directory.h"
#include "cachet/io/digests/crc32.h"
#include "cachet/io/error.h"
#include "cachet/io/little_endian.h"

namespace cachet::io {
namespace {

constexpr uint64_t kHeaderBytes = 30;
constexpr uint32_t kHeaderSignature = 0x04034B50, kSizesSignature = 0x08074B50;
constexpr uint64_t kSizesBytes = 16, kWideSizesBytes = 24;  // what stands after the bytes of a member

/// Holds the members' own headers to the directory.
class MemberReader {
 public:
  MemberReader(const ByteSource& source, const std::string& file) : source_(source), file_(file) {}

  /// The member whose header begins at entry.header and which must end where the next one begins, at `end`.
  ZipMember read(const ZipEntry& entry, uint64_t end) const {
    if (end - entry.header < kHeaderBytes + entry.name.size()) fail(entry, "overlaps the next member");
    std::array<std::byte, kHeaderBytes> header;
    source_.read_at(entry.header, header);
    const auto number = [&header](size_t position) { return little_endian<uint32_t>(header, position); };
    const auto small = [&header](size_t position) { return little_endian<uint16_t>(header, position); };
    if (number(0) != kHeaderSignature) fail(entry, "must have its header at the offset that the directory states");
    std::string name(entry.name.size(), '\0');
    source_.read_at(entry.header + kHeaderBytes, std::as_writable_bytes(std::span(name)));
    const bool sizes_behind = (entry.flags & kZipSizesBehind) != 0;
    const bool agrees = small(6) == entry.flags && small(8) == 0 && small(26) == name.size() && name == entry.name &&
                        fits(number(14), entry.crc, sizes_behind) && fits_size(number(18), entry.size, sizes_behind) &&
                        fits_size(number(22), entry.size, sizes_behind);
    if (!agrees) fail(entry, "has a header that contradicts the directory");
    const uint64_t begin = entry.header + kHeaderBytes + name.size() + small(28);
    if (begin > end || entry.size > end - begin) fail(entry, "overlaps the next member");
    check_end(entry, begin + entry.size, end, sizes_behind);
    return {entry.name, begin, entry.size, entry.crc};
  }

 private:
  [[noreturn]] void fail(const ZipEntry& entry, const std::string& message) const {
    throw Error(file_ + ": member " + in_quotes(entry.name) + " " + message);
  }

  static bool fits(uint64_t said, uint64_t known, bool may_be_behind) {
    return said == known || (may_be_behind && said == 0);
  }
  // A size that needs 64 bits is in the header's extra fields, which the directory's outweigh.
  static bool fits_size(uint32_t said, uint64_t known, bool may_be_behind) {
    return fits(said, known, may_be_behind) || (said == 0xFFFFFFFF && known >= said);
  }

  void check_end(const ZipEntry& entry, uint64_t from, uint64_t end, bool sizes_behind) const {
    const uint64_t rest = end - from;
    if (!sizes_behind) {
      if (rest != 0) fail(entry, "is followed by bytes that do not belong to a member");
      return;
    }
    if (rest != kSizesBytes && rest != kWideSizesBytes)
      fail(entry, "is followed by bytes that do not belong to a member");
    std::array<std::byte, kWideSizesBytes> sizes{};
    source_.read_at(from, std::span(sizes).first(rest));
    const bool wide = rest == kWideSizesBytes;
    const uint64_t first = wide ? little_endian<uint64_t>(sizes, 8) : little_endian<uint32_t>(sizes, 8);
    const uint64_t second = wide ? little_endian<uint64_t>(sizes, 16) : little_endian<uint32_t>(sizes, 12);
    if (little_endian<uint32_t>(sizes, 0) != kSizesSignature || little_endian<uint32_t>(sizes, 4) != entry.crc ||
        first != entry.size || second != entry.size)
      fail(entry, "is followed by sizes that contradict the directory");
  }

  const ByteSource& source_;
  const std::string& file_;
};

}  // namespace

ZipArchive::ZipArchive(const ByteSource& source, std::string name, const ZipLimits& limits)
    : source_(source), name_(std::move(name)) {
  ZipDirectory directory = read_zip_directory(source, name_, limits);
  std::ranges::sort(directory.entries, {}, &ZipEntry::header);
  if (directory.entries.empty()) throw Error(name_ + ": the archive is empty");
  if (directory.entries.front().header != 0) throw Error(name_ + ": has bytes before its first member");
  const MemberReader reader(source_, name_);
  members_.reserve(directory.entries.size());
  for (size_t i = 0; i < directory.entries.size(); ++i) {
    const bool last = i + 1 == directory.entries.size();
    members_.push_back(reader.read(directory.entries[i], last ? directory.begin : directory.entries[i + 1].header));
    if (!by_name_.emplace(members_.back().name, i).second)
      throw Error(name_ + ": member " + in_quotes(members_.back().name) + " occurs twice");
  }
}

const ZipMember* ZipArchive::find(std::string_view member) const {
  const auto found = by_name_.find(member);
  return found == by_name_.end() ? nullptr : &members_[found->second];
}

void ZipArchive::read(const ZipMember& member, std::span<std::byte> bytes) const {
  source_.read_at(member.begin, bytes);
  if (crc32(bytes) != member.crc)
    throw Error(name_ + ": member " + in_quotes(member.name) + " is damaged: its CRC-32 does not match its data");
}

}  // namespace cachet::io
