#include "cachet/io/compressed.h"

#include <algorithm>
#include <array>
#include <string>

#include "cachet/io/decompressor.h"
#include "cachet/io/error.h"
#include "cachet/io/read_file.h"

namespace cachet::io {
namespace {

constexpr std::array<uint8_t, 2> kGzipMagic = {0x1F, 0x8B};
constexpr std::array<uint8_t, 6> kXzMagic = {0xFD, '7', 'z', 'X', 'Z', 0};

template <size_t N>
bool begins_with(std::span<const uint8_t> bytes, const std::array<uint8_t, N>& magic) {
  return bytes.size() >= N && std::equal(magic.begin(), magic.end(), bytes.begin());
}

}  // namespace

std::vector<uint8_t> decompress(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name) {
  if (begins_with(bytes, kGzipMagic)) return decompress_gzip(bytes, max_bytes, name);
  if (begins_with(bytes, kXzMagic)) return decompress_xz(bytes, max_bytes, name);
  if (bytes.size() > max_bytes) throw Error(std::string(name) + ": over " + std::to_string(max_bytes) + " bytes");
  return {bytes.begin(), bytes.end()};
}

std::vector<uint8_t> read_decompressed(const std::filesystem::path& path, uint64_t max_bytes) {
  const std::vector<std::byte> bytes = read_file(path, max_bytes);
  return decompress({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, max_bytes, path.string());
}

}  // namespace cachet::io
