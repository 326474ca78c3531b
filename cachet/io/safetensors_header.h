#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// The element types that the format names and that are known here; sub-byte ones are refused by name.
enum class SafetensorsType {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kU16,
  kI16,
  kF16,
  kBF16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64
};

std::string_view type_name(SafetensorsType type);  // "F32"
uint64_t type_bytes(SafetensorsType type);         // 1, 2, 4 or 8

/// A tensor as the header describes it; [begin, end) are bytes behind the header.
struct SafetensorsEntry {
  std::string name;
  SafetensorsType type = SafetensorsType::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their bytes, which they cover without gap or overlap
  std::map<std::string, std::string> metadata;
  uint64_t data_begin = 0;  // offset of the tensors' bytes in the file
};

/// The limits that the reader adds to the format's own.
struct SafetensorsLimits {
  uint64_t header_bytes = 100'000'000;  // the reference's own cap
  size_t name_bytes = 1024;
  size_t rank = 64;            // what LibTorch's dispatcher can hold
  size_t tensors = 1'000'000;  // and as many metadata pairs
};

/// Reads and checks the header of a safetensors file. `file` holds at least the eight length bytes and the header
/// (the whole file does as well) and `file_size` is the size of the whole. Refuses with io::Error whatever is outside
/// the subset that docs/file-formats.md writes down; `name` begins the message. Time and memory are linear in the
/// header.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, uint64_t file_size, std::string_view name,
                                           const SafetensorsLimits& limits = {});

}  // namespace cachet::io
