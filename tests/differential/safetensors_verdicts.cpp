// Reads files from standard input, each after its length (8 bytes, little-endian), and prints a line for each: "+" and
// the content of the header, or "-" and the reason to refuse it. safetensors_differential.py compares these with the
// reference reader.
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors_header.h"

namespace {

using namespace cachet::io;

std::string verdict(std::string_view file) {
  const auto bytes = std::as_bytes(std::span(file));
  const uint64_t size = safetensors_header_size(bytes, file.size(), "f");
  const std::string_view json = file.substr(kSafetensorsPrefix, size);
  const SafetensorsHeader header = parse_safetensors_header(json, file.size() - kSafetensorsPrefix - size, "f");
  std::string text = "+";
  for (const SafetensorsEntry& entry : header.entries) {
    (text += ' ') += type_name(entry.type);
    for (const int64_t dimension : entry.shape) (text += ':') += std::to_string(dimension);
    (text += '@') += std::to_string(entry.end - entry.begin);
  }
  return text;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string file, length(8, '\0'); std::cin.read(length.data(), 8);) {
    uint64_t size = 0;
    for (size_t i = 8; i-- > 0;) size = size << 8 | static_cast<unsigned char>(length[i]);
    file.resize(size);
    std::cin.read(file.data(), static_cast<std::streamsize>(size));
    try {
      std::cout << verdict(file) << "\n";
    } catch (const Error& error) {
      std::cout << "- " << error.what() << "\n";
    }
    std::cout.flush();
  }
}
