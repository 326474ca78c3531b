#include "cachet/io/compression/compressed.h"

#include <algorithm>
#include <array>
#include <string>

#include "cachet/io/compression/decompressor.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::io {
namespace {

constexpr std::array<uint8_t, 2> kGzipMagic = {0x1F, 0x8B};
constexpr std::array<uint8_t, 6> kXzMagic = {0xFD, '7', 'z', 'X', 'Z', 0};

template <size_t N>
bool begins_with(std::span<const uint8_t> bytes, const std::array<uint8_t, N>& magic) {
  return bytes.size() >= N && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// Whether the bytes were those of a compressed file, which were written to the output.
bool decompress_into(GrowingOutput& output, std::span<const uint8_t> bytes, std::string_view name) {
  const bool gzip = begins_with(bytes, kGzipMagic), xz = begins_with(bytes, kXzMagic);
  if (gzip) decompress_gzip(bytes, output, name);
  if (xz) decompress_xz(bytes, output, name);
  return gzip || xz;
}

std::span<const uint8_t> as_octets(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<uint8_t> decompress(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name) {
  GrowingOutput output(max_bytes, name);
  if (decompress_into(output, bytes, name)) return output.take();
  if (bytes.size() > max_bytes) throw Error(std::string(name) + ": over " + std::to_string(max_bytes) + " bytes");
  return {bytes.begin(), bytes.end()};
}

std::vector<uint8_t> read_decompressed(const std::filesystem::path& path, uint64_t max_bytes) {
  return decompress(as_octets(read_file(path, max_bytes)), max_bytes, path.string());
}

void for_each_decompressed_piece(const std::filesystem::path& path, uint64_t max_bytes,
                                 const std::function<void(std::span<const uint8_t> piece)>& take) {
  const std::string name = path.string();
  const std::vector<std::byte> bytes = read_file(path, max_bytes);
  GrowingOutput output(max_bytes, name, take);
  if (decompress_into(output, as_octets(bytes), name))
    output.finish();
  else
    take(as_octets(bytes));
}

}  // namespace cachet::io
