#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Writes what torch.save writes, and what it would not write.
namespace cachet::test {

template <class Int>
std::string little_endian_bytes(Int value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(Int); ++i) bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  return bytes;
}
inline std::string u16(uint64_t value) { return little_endian_bytes(static_cast<uint16_t>(value)); }
inline std::string u32(uint64_t value) { return little_endian_bytes(static_cast<uint32_t>(value)); }
inline std::string u64(uint64_t value) { return little_endian_bytes(value); }

/// A member of a zip archive. What is set next to name and data makes it wrong, or rare.
struct ZipPart {
  std::string name, data;
  uint16_t flags = 0x0808, method = 0;
  uint32_t attributes = 0;
  std::optional<std::string> local_name = {};
  std::optional<uint32_t> crc = {}, local_crc = {}, size = {}, packed_size = {}, offset = {};
  std::string extra = {};    // in the directory
  std::string comment = {};  // in the directory
  std::string behind = {};   // bytes of nobody
  std::optional<std::string> sizes_behind = {};
};

/// The ends of the archive.
struct ZipEnd {
  bool zip64 = true;  // as torch.save does, whatever the size
  std::optional<uint16_t> entries = {};
  std::optional<uint64_t> entries64 = {}, begin64 = {}, locator = {};
  uint16_t disk = 0;
  std::string comment = {}, before = {}, behind_directory = {}, locator_disks = u32(1);
  bool says64 = false;  // the old end leaves its numbers to the zip64 one
};

inline std::string zip_archive(const std::vector<ZipPart>& parts, const ZipEnd& end = {}) {
  std::string file = end.before, directory;
  for (const ZipPart& part : parts) {
    const size_t begin = file.size();
    const auto crc = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(part.data.data()), static_cast<uInt>(part.data.size())));
    const bool behind = (part.flags & 8) != 0;
    const std::string name = part.local_name.value_or(part.name), padding = std::string("FB\3\0ZZZ", 7);
    file += "PK\x03\x04" + u16(0) + u16(part.flags) + u16(part.method) + u32(0) +
            u32(part.local_crc.value_or(behind ? 0 : crc)) + u32(behind ? 0 : part.data.size()) +
            u32(behind ? 0 : part.data.size()) + u16(name.size()) + u16(padding.size()) + name + padding + part.data;
    if (behind)
      file += part.sizes_behind.value_or("PK\x07\x08" + u32(crc) + u32(part.data.size()) + u32(part.data.size()));
    file += part.behind;
    directory += "PK\x01\x02" + u16(0) + u16(0) + u16(part.flags) + u16(part.method) + u32(0) +
                 u32(part.crc.value_or(crc)) + u32(part.packed_size.value_or(part.size.value_or(part.data.size()))) +
                 u32(part.size.value_or(part.data.size())) + u16(part.name.size()) + u16(part.extra.size()) +
                 u16(part.comment.size()) + u16(0) + u16(0) + u32(part.attributes) +
                 u32(part.offset.value_or(static_cast<uint32_t>(begin))) + part.name + part.extra + part.comment;
  }
  const size_t begin = file.size();
  file += directory + end.behind_directory;
  const uint64_t count = end.entries.value_or(parts.size()), bytes = directory.size();
  if (end.zip64) {
    const uint64_t record = file.size(), entries = end.entries64.value_or(parts.size());
    file += "PK\x06\x06" + u64(44) + u16(0x31E) + u16(45) + u32(0) + u32(0) + u64(entries) + u64(entries) + u64(bytes) +
            u64(end.begin64.value_or(begin));
    file += "PK\x06\x07" + u32(0) + u64(end.locator.value_or(record)) + end.locator_disks;
  }
  file += "PK\x05\x06" + u16(end.disk) + u16(0) + u16(count) + u16(count) + u32(end.says64 ? 0xFFFFFFFF : bytes) +
          u32(end.says64 ? 0xFFFFFFFF : begin) + u16(end.comment.size()) + end.comment;
  return file;
}

/// Pieces of pickles.
namespace pickled {

inline std::string text(const std::string& value) { return "X" + u32(value.size()) + value; }
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string integer(int64_t value) {
  if (value >= 0 && value < 256) return std::string("K") + static_cast<char>(value);
  return std::string("\x8a\x08") + u64(static_cast<uint64_t>(value));
}
inline std::string tuple(const std::string& items) { return "(" + items + "t"; }
inline std::string integers(const std::vector<int64_t>& values) {
  std::string items;
  for (const int64_t value : values) items += integer(value);
  return tuple(items);
}
inline std::string call(const std::string& function, const std::string& arguments) {
  return function + tuple(arguments) + "R";
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string all;
  for (const auto& [key, value] : items) all += text(key) + value;
  return "}(" + all + "u";
}
inline std::string storage(const std::string& key, int64_t count, const std::string& type = "FloatStorage",
                           const std::string& module = "torch") {
  return tuple(text("storage") + global(module, type) + text(key) + text("cpu") + integer(count)) + "Q";
}
inline std::string tensor(const std::string& storage, int64_t offset, const std::vector<int64_t>& shape,
                          const std::vector<int64_t>& strides, const std::string& more = "") {
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              storage + integer(offset) + integers(shape) + integers(strides) + "\x89" + "}" + more);
}
inline std::string program(const std::string& body) { return "\x80\x02" + body + "."; }

}  // namespace pickled

/// A file as torch.save lays it out, with these storages.
inline std::string torch_archive(const std::string& pickle, const std::vector<std::string>& storages = {},
                                 const ZipEnd& end = {}) {
  std::vector<ZipPart> parts{{"archive/data.pkl", pickle}, {"archive/byteorder", "little"}};
  for (size_t i = 0; i < storages.size(); ++i)
    parts.push_back(
        {"archive/data/" + std::to_string(i), storages[i], storages[i].empty() ? uint16_t{0x0800} : uint16_t{0x0808}});
  parts.push_back({"archive/version", "3\n"});
  return zip_archive(parts, end);
}

inline std::string float_bytes(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace cachet::test
