#include "cachet/io/tensors/safetensors/safetensors_header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/git_lfs.h"
#include "cachet/io/json/json_cursor.h"
#include "cachet/io/little_endian.h"

namespace cachet::io {
namespace {

struct TypeRow {
  std::string_view name;
  uint64_t bytes;
};

// In the order of SafetensorsType.
constexpr std::array<TypeRow, 19> kTypes = {{{"BOOL", 1},
                                             {"U8", 1},
                                             {"I8", 1},
                                             {"F8_E5M2", 1},
                                             {"F8_E4M3", 1},
                                             {"F8_E8M0", 1},
                                             {"F8_E4M3FNUZ", 1},
                                             {"F8_E5M2FNUZ", 1},
                                             {"I16", 2},
                                             {"U16", 2},
                                             {"F16", 2},
                                             {"BF16", 2},
                                             {"I32", 4},
                                             {"U32", 4},
                                             {"F32", 4},
                                             {"C64", 8},
                                             {"F64", 8},
                                             {"I64", 8},
                                             {"U64", 8}}};
constexpr std::array<std::string_view, 3> kSubByteTypes = {"F4", "F6_E2M3", "F6_E3M2"};
constexpr std::string_view kMetadata = "__metadata__";

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; });
}

class HeaderReader {
 public:
  HeaderReader(std::string_view json, std::string_view file, const SafetensorsLimits& limits)
      : cursor_(json, file), file_(file), limits_(limits), text_left_(limits.text_bytes) {}

  SafetensorsHeader read();

 private:
  void read_metadata();
  void read_entry(std::string name);
  SafetensorsType read_type();
  std::vector<int64_t> read_shape();
  std::string read_text(std::string_view what, size_t most_bytes);
  void refuse_duplicate_names() const;

  JsonCursor cursor_;
  std::string file_;
  const SafetensorsLimits& limits_;
  size_t text_left_;
  SafetensorsHeader header_;
  bool has_metadata_ = false;
};

SafetensorsHeader HeaderReader::read() {
  cursor_.expect('{');
  if (!cursor_.take('}')) {
    do {
      std::string name = read_text("a tensor's name", limits_.name_bytes);
      cursor_.expect(':');
      if (name == kMetadata) {
        read_metadata();
      } else {
        read_entry(std::move(name));
      }
    } while (cursor_.take(','));
    cursor_.expect('}');
  }
  cursor_.end();
  refuse_duplicate_names();
  return std::move(header_);
}

std::string HeaderReader::read_text(std::string_view what, size_t most_bytes) {
  std::string text = cursor_.string(what, std::min(most_bytes, text_left_));
  text_left_ -= text.size();
  return text;
}

void HeaderReader::read_metadata() {
  if (std::exchange(has_metadata_, true)) cursor_.fail("__metadata__ comes twice");
  cursor_.expect('{');
  if (cursor_.take('}')) return;
  do {
    std::string key = read_text("a metadata key", limits_.text_bytes);
    cursor_.expect(':');
    std::string value = read_text("a metadata value", limits_.text_bytes);
    const auto [place, is_new] = header_.metadata.emplace(std::move(key), std::move(value));
    if (!is_new) cursor_.fail("metadata key " + in_quotes(place->first) + " comes twice");
    if (header_.metadata.size() > limits_.entries) {
      cursor_.fail("more than " + std::to_string(limits_.entries) + " metadata keys");
    }
  } while (cursor_.take(','));
  cursor_.expect('}');
}

void HeaderReader::read_entry(std::string name) {
  check_tensor_name(name, file_, limits_);
  if (header_.entries.size() == limits_.entries) {
    cursor_.fail("more than " + std::to_string(limits_.entries) + " tensors");
  }
  std::optional<SafetensorsType> type;
  std::optional<std::vector<int64_t>> shape;
  std::optional<std::array<uint64_t, 2>> offsets;
  const auto once = [&](std::string_view field, bool given) {
    if (given) cursor_.fail("field '" + std::string(field) + "' of tensor " + in_quotes(name) + " comes twice");
  };
  cursor_.expect('{');
  if (!cursor_.take('}')) {
    do {
      const std::string field = cursor_.string("a field's name", limits_.name_bytes);
      cursor_.expect(':');
      if (field == "dtype") {
        once(field, type.has_value());
        type = read_type();
      } else if (field == "shape") {
        once(field, shape.has_value());
        shape = read_shape();
      } else if (field == "data_offsets") {
        once(field, offsets.has_value());
        cursor_.expect('[');
        const auto begin = static_cast<uint64_t>(cursor_.natural("an offset"));
        cursor_.expect(',');
        offsets = {begin, static_cast<uint64_t>(cursor_.natural("an offset"))};
        cursor_.expect(']');
      } else {
        cursor_.fail("unknown field " + in_quotes(field) + " of tensor " + in_quotes(name));
      }
    } while (cursor_.take(','));
    cursor_.expect('}');
  }
  const char* missing = !type ? "dtype" : !shape ? "shape" : !offsets ? "data_offsets" : nullptr;
  if (missing != nullptr) cursor_.fail("tensor " + in_quotes(name) + " has no '" + missing + "'");
  header_.entries.push_back({std::move(name), *type, std::move(*shape), (*offsets)[0], (*offsets)[1]});
}

SafetensorsType HeaderReader::read_type() {
  const std::string name = cursor_.string("dtype", limits_.name_bytes);
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<SafetensorsType>(i);
  }
  if (std::find(kSubByteTypes.begin(), kSubByteTypes.end(), name) != kSubByteTypes.end()) {
    cursor_.fail("dtype " + in_quotes(name) + " stores several values in a byte, which is not supported");
  }
  cursor_.fail("unknown dtype " + in_quotes(name));
}

std::vector<int64_t> HeaderReader::read_shape() {
  std::vector<int64_t> shape;
  cursor_.expect('[');
  if (cursor_.take(']')) return shape;
  do {
    if (shape.size() == limits_.rank) cursor_.fail("more than " + std::to_string(limits_.rank) + " dimensions");
    shape.push_back(cursor_.natural("a dimension"));
  } while (cursor_.take(','));
  cursor_.expect(']');
  return shape;
}

void HeaderReader::refuse_duplicate_names() const {
  std::vector<std::string_view> names;
  names.reserve(header_.entries.size());
  for (const SafetensorsEntry& entry : header_.entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) throw Error(file_ + ": tensor " + in_quotes(*twin) + " comes twice");
}

// The product of all dimensions, zeros left out, must fit as well: LibTorch computes strides from it.
void check_size(const SafetensorsEntry& entry, std::string_view file) {
  const std::string tensor = std::string(file) + ": tensor " + in_quotes(entry.name);
  uint64_t bytes = type_bytes(entry.type);
  bool is_empty = false;
  for (const int64_t dimension : entry.shape) {
    is_empty |= dimension == 0;
    if (dimension == 0) continue;
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dimension), &bytes) || bytes > INT64_MAX) {
      throw Error(tensor + ": its shape overflows 2^63 bytes");
    }
  }
  if (is_empty) bytes = 0;
  if (entry.begin > entry.end) throw Error(tensor + ": its data_offsets end before they begin");
  if (entry.end - entry.begin != bytes) {
    throw Error(tensor + ": shape and dtype need " + std::to_string(bytes) +
                " bytes, but the number of bytes between its data_offsets is " +
                std::to_string(entry.end - entry.begin));
  }
}

// Sorts the entries by their bytes and checks that these follow each other from 0 to data_size.
void check_coverage(std::vector<SafetensorsEntry>& entries, uint64_t data_size, std::string_view file) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != covered) {
      throw Error(std::string(file) + ": tensor " + in_quotes(entry.name) + " begins at byte " +
                  std::to_string(entry.begin) + " of the data, but must begin at byte " + std::to_string(covered) +
                  ": tensors must be next to each other, without " + (entry.begin > covered ? "gap" : "overlap"));
    }
    covered = entry.end;
  }
  if (covered == data_size) return;
  throw Error(std::string(file) + ": the tensors cover " + std::to_string(covered) + " bytes, but " +
              std::to_string(data_size) + " follow the header: the file is " +
              (covered > data_size ? "truncated" : "too long"));
}

}  // namespace

std::string_view type_name(SafetensorsType type) { return kTypes[static_cast<size_t>(type)].name; }
uint64_t type_bytes(SafetensorsType type) { return kTypes[static_cast<size_t>(type)].bytes; }

void check_tensor_name(std::string_view tensor, std::string_view file, const SafetensorsLimits& limits) {
  const std::string start = std::string(file) + ": ";
  if (tensor.empty()) throw Error(start + "a tensor has an empty name");
  if (tensor == kMetadata) throw Error(start + "the name of a tensor must not be __metadata__");
  if (tensor.size() > limits.name_bytes) {
    throw Error(start + "a tensor's name has more than " + std::to_string(limits.name_bytes) + " bytes");
  }
  if (has_control_character(tensor)) throw Error(start + "a tensor's name has a control character");
}

uint64_t safetensors_header_size(std::span<const std::byte> prefix, uint64_t file_size, std::string_view name,
                                 const SafetensorsLimits& limits) {
  const std::string start = std::string(name) + ": ";
  if (file_size < kSafetensorsPrefix || prefix.size() < kSafetensorsPrefix) {
    throw Error(start + "not a safetensors file: it has " + std::to_string(file_size) + " bytes; the minimum is 8");
  }
  if (std::ranges::equal(std::as_bytes(std::span(kGitLfsPointer.substr(0, kSafetensorsPrefix))),
                         prefix.first(kSafetensorsPrefix)))
    throw Error(start + kIsGitLfsPointer);
  const auto size = little_endian<uint64_t>(prefix, 0);
  if (size > limits.header_bytes) {
    throw Error(start + "not a safetensors file: its header would have " + std::to_string(size) +
                " bytes; the maximum is " + std::to_string(limits.header_bytes));
  }
  if (size > file_size - kSafetensorsPrefix) {
    throw Error(start + "truncated: the header has " + std::to_string(size) +
                " bytes, but the number of bytes after the length of the header is only " +
                std::to_string(file_size - kSafetensorsPrefix));
  }
  return size;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_size, std::string_view name,
                                           const SafetensorsLimits& limits) {
  const size_t begin = json.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || json[begin] != '{')
    throw Error(std::string(name) + ": the header must begin with '{'");
  SafetensorsHeader header = HeaderReader(json, name, limits).read();
  for (const SafetensorsEntry& entry : header.entries) check_size(entry, name);
  check_coverage(header.entries, data_size, name);
  return header;
}

}  // namespace cachet::io
