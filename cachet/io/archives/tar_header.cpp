#include "cachet/io/archives/tar_header.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace cachet::io {
namespace {

// Positions and lengths of the fields (POSIX.1-1988).
struct Field {
  size_t begin, size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
    kChecksum{148, 8}, kType{156, 1}, kMagic{257, 8};
constexpr uint64_t kMaxSize = uint64_t{1} << 33;  // 11 octal digits

/// Parses an octal number with spaces before it, and spaces or zero bytes after it.
std::optional<uint64_t> octal(std::span<const std::byte> bytes) {
  size_t i = 0;
  while (i < bytes.size() && bytes[i] == std::byte{' '}) ++i;
  uint64_t number = 0;
  const size_t first = i;
  for (; i < bytes.size() && bytes[i] >= std::byte{'0'} && bytes[i] <= std::byte{'7'}; ++i)
    number = number * 8 + (std::to_integer<uint64_t>(bytes[i]) - '0');
  const bool ends = std::ranges::all_of(bytes.subspan(i),
                                        [](std::byte byte) { return byte == std::byte{' '} || byte == std::byte{0}; });
  return i > first && ends ? std::optional(number) : std::nullopt;
}

/// Parses a size. A number with more digits than the field has is stored in base 256, with the first bit set.
std::optional<uint64_t> size_in(std::span<const std::byte> bytes) {
  if (bytes[0] != std::byte{0x80}) return octal(bytes);
  if (std::ranges::any_of(bytes.subspan(1, 3), [](std::byte byte) { return byte != std::byte{0}; }))
    return std::nullopt;
  uint64_t number = 0;
  for (const std::byte byte : bytes.subspan(4)) number = number << 8 | std::to_integer<uint64_t>(byte);
  return number;
}

/// Returns the sum of the block's bytes, with spaces as the checksum.
uint64_t checksum_of(std::span<const std::byte, kTarBlock> block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool is_checksum = i >= kChecksum.begin && i < kChecksum.begin + kChecksum.size;
    sum += is_checksum ? ' ' : std::to_integer<uint64_t>(block[i]);
  }
  return sum;
}

}  // namespace

std::optional<TarHeader> parse_tar_header(std::span<const std::byte, kTarBlock> block) {
  const auto field = [&](const Field& of) { return std::span<const std::byte>(block).subspan(of.begin, of.size); };
  if (octal(field(kChecksum)) != checksum_of(block)) return std::nullopt;
  const auto size = size_in(field(kSize));
  if (!size) return std::nullopt;
  return TarHeader{static_cast<char>(block[kType.begin]), *size};
}

std::array<std::byte, kTarBlock> make_tar_header(std::string_view name, uint64_t size) {
  if (name.empty() || name.size() > kName.size)
    throw std::invalid_argument("the name of a tar member must have 1 to 100 bytes");
  if (size >= kMaxSize) throw std::invalid_argument("a tar member must be smaller than 8 GiB");
  std::array<std::byte, kTarBlock> block{};
  const auto put = [&](const Field& field, std::string_view text) {
    std::memcpy(block.data() + field.begin, text.data(), std::min(text.size(), field.size));
  };
  std::array<char, 16> digits{};
  const auto put_number = [&](const Field& field, uint64_t number) {
    const int width = static_cast<int>(field.size) - 1;
    std::snprintf(digits.data(), digits.size(), "%0*llo", width, static_cast<unsigned long long>(number));
    put(field, digits.data());
  };
  put(kName, name);
  put_number(kMode, 0644);
  put_number(kUser, 0);
  put_number(kGroup, 0);
  put_number(kSize, size);
  put_number(kTime, 0);
  put(kType, "0");
  put(kMagic, std::string_view("ustar\0"
                               "00",
                               8));
  std::snprintf(digits.data(), digits.size(), "%06llo", static_cast<unsigned long long>(checksum_of(block)));
  put(kChecksum, std::string_view(digits.data(), 7));  // six digits and a zero byte
  block[kChecksum.begin + 7] = std::byte{' '};
  return block;
}

}  // namespace cachet::io
