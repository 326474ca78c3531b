#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::test {

/// A member of a tar archive made in memory. The defaults are those of a regular file.
struct TarPart {
  std::string name, content;
  char type = '0';
  std::string size{};      // the 12 bytes of the size; empty: the size of the content, in octal digits
  std::string linked{};    // name of a link's target
  bool wrong_sum = false;  // whether the checksum is wrong
};

inline std::string octal_field(uint64_t number, int width) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%0*llo", width - 1, static_cast<unsigned long long>(number));
  return std::string(digits) + '\0';
}

/// A size in base 256, as tar stores sizes of 8 GiB and more; negative with all bits of the first bytes set.
inline std::string binary_size(int64_t number) {
  std::string field(12, number < 0 ? '\xff' : '\0');
  for (int i = 0; i < 8; ++i) field[static_cast<size_t>(11 - i)] = static_cast<char>(number >> (8 * i));
  field[0] = static_cast<char>(number < 0 ? 0xff : 0x80);
  return field;
}

inline std::string tar_header(const TarPart& part) {
  std::string block(512, '\0');
  const auto put = [&](size_t at, std::string_view text, size_t most) {
    text = text.substr(0, most);
    block.replace(at, text.size(), text);
  };
  put(0, part.name, 100);
  put(100, octal_field(0644, 8), 8);
  put(108, octal_field(0, 8), 8);
  put(116, octal_field(0, 8), 8);
  put(124, part.size.empty() ? octal_field(part.content.size(), 12) : part.size, 12);
  put(136, octal_field(0, 12), 12);
  block[156] = part.type;
  put(157, part.linked, 100);
  put(257,
      std::string_view("ustar\0"
                       "00",
                       8),
      8);
  put(148, "        ", 8);
  uint64_t sum = part.wrong_sum ? 1 : 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  put(148, octal_field(sum, 7) + ' ', 8);
  return block;
}

/// A tar archive without its end.
inline std::string open_tar(const std::vector<TarPart>& parts) {
  std::string bytes;
  for (const TarPart& part : parts) {
    bytes += tar_header(part) + part.content;
    bytes.append((512 - part.content.size() % 512) % 512, '\0');
  }
  return bytes;
}

inline std::string tar_archive(const std::vector<TarPart>& parts) { return open_tar(parts) + std::string(1024, '\0'); }

/// A line of a pax header: its own length, a key and a value.
inline std::string pax_line(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  size_t size = rest.size() + 1;
  while (std::to_string(size).size() + rest.size() != size) ++size;
  return std::to_string(size) + rest;
}

}  // namespace cachet::test
