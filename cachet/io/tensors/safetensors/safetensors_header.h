#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// The element types that both the safetensors format and LibTorch have. The safetensors format also
/// has types that are smaller than one byte. If a tensor has a type of less than one byte, the error
/// names this type.
enum class SafetensorsType {
  kBool,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64
};

/// The name of an element type, and its size in bytes.
std::string_view type_name(SafetensorsType type);  // "F32"
uint64_t type_bytes(SafetensorsType type);         // 1, 2, 4 or 8

/// The entry of a tensor in the header. The tensor's bytes are [begin, end), counted from the end of the header.
struct SafetensorsEntry {
  std::string name;
  SafetensorsType type = SafetensorsType::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // entries in the order of their bytes, without gap or overlap
  std::map<std::string, std::string> metadata;
};

/// Limits of the safetensors reader, in addition to the limits of the format. The limits bound the memory that the
/// reader uses beyond the size of the file.
struct SafetensorsLimits {
  uint64_t header_bytes = 100'000'000;   // the limit of the reference implementation
  size_t name_bytes = 1024;              // bytes of one name
  size_t text_bytes = 16 * 1024 * 1024;  // bytes of all names and metadata together
  size_t rank = 16;
  size_t entries = 100'000;  // number of tensors, and number of metadata pairs
};

/// Number of bytes at the start of a file that hold the length of the header.
constexpr uint64_t kSafetensorsPrefix = 8;

/// Reads the length of the header from a file's first bytes and checks it against the size of the whole file. Throws
/// io::Error, whose message begins with `name`.
uint64_t safetensors_header_size(std::span<const std::byte> prefix, uint64_t file_size, std::string_view name,
                                 const SafetensorsLimits& limits = {});

/// Reads and checks the JSON of the header, which follows the prefix of the file. `data_size` is the number of bytes
/// after the header. Throws io::Error for everything outside the subset of the format in docs/file-formats.md. Parsing
/// takes O(n log n) time for n tensors, and otherwise linear time in the size of the header.
SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_size, std::string_view name,
                                           const SafetensorsLimits& limits = {});

/// Throws io::Error if `tensor` is not a valid name of a tensor.
/// A name has 1 ... name_bytes bytes of UTF-8, and no control characters.
/// A tensor may not have the name `__metadata__`.
void check_tensor_name(std::string_view tensor, std::string_view file, const SafetensorsLimits& limits = {});

}  // namespace cachet::io
