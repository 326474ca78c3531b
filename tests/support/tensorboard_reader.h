#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/digests/crc32c.h"

namespace cachet::test {

/// One record of an event file, as far as Cachet writes them.
struct TensorBoardEvent {
  double wall_time = 0;
  int64_t step = 0;
  std::string file_version;
  bool starts_session = false;
  std::map<std::string, float> scalars;
  std::map<std::string, std::string> texts, titles, descriptions;
};

/// The fields of a protocol buffer by number; varints and fixed numbers as bits.
struct ProtobufField {
  uint64_t number = 0, bits = 0;
  std::string_view bytes;
};

inline uint64_t little_endian_bits(std::string_view bytes) {
  uint64_t bits = 0;
  for (size_t i = bytes.size(); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return bits;
}

inline uint64_t take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.at(0));
    rest.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

inline std::vector<ProtobufField> protobuf_fields(std::string_view rest) {
  std::vector<ProtobufField> fields;
  while (!rest.empty()) {
    const uint64_t key = take_varint(rest);
    ProtobufField field{key >> 3, 0, {}};
    const uint64_t type = key & 7;
    if (type == 0) {
      field.bits = take_varint(rest);
    } else {
      const uint64_t size = type == 1 ? 8 : type == 5 ? 4 : take_varint(rest);
      if (size > rest.size()) throw std::runtime_error("a field reaches beyond its message");
      field.bytes = rest.substr(0, size);
      if (type != 2) field.bits = little_endian_bits(field.bytes);
      rest.remove_prefix(size);
    }
    fields.push_back(field);
  }
  return fields;
}

inline std::string_view protobuf_bytes(std::string_view message, uint64_t number) {
  for (const ProtobufField& field : protobuf_fields(message))
    if (field.number == number) return field.bytes;
  return {};
}

inline TensorBoardEvent parse_tensorboard_event(std::string_view content) {
  TensorBoardEvent event;
  for (const ProtobufField& field : protobuf_fields(content)) {
    if (field.number == 1) event.wall_time = std::bit_cast<double>(field.bits);
    if (field.number == 2) event.step = static_cast<int64_t>(field.bits);
    if (field.number == 3) event.file_version = field.bytes;
    if (field.number == 7) event.starts_session = protobuf_fields(field.bytes).at(0).bits == 1;
    if (field.number != 5) continue;
    for (const ProtobufField& value : protobuf_fields(field.bytes)) {
      const std::string tag(protobuf_bytes(value.bytes, 1));
      for (const ProtobufField& part : protobuf_fields(value.bytes)) {
        if (part.number == 2) event.scalars[tag] = std::bit_cast<float>(static_cast<uint32_t>(part.bits));
        if (part.number == 8) event.texts[tag] = protobuf_bytes(part.bytes, 8);
        if (part.number != 9 || protobuf_bytes(part.bytes, 2).empty()) continue;
        event.titles[tag] = protobuf_bytes(part.bytes, 2);
        event.descriptions[tag] = protobuf_bytes(part.bytes, 3);
      }
    }
  }
  return event;
}

/// The whole records of a file; what a dying process left of a last one is passed over. Throws std::runtime_error where
/// a checksum is wrong.
inline std::vector<TensorBoardEvent> read_tensorboard(std::string_view file) {
  const auto require_checksum = [](std::string_view bytes, std::string_view masked) {
    const uint32_t checksum = io::crc32c(bytes);
    if (static_cast<uint32_t>((checksum >> 15 | checksum << 17) + 0xA282EAD8U) != little_endian_bits(masked))
      throw std::runtime_error("a checksum is wrong");
  };
  std::vector<TensorBoardEvent> events;
  while (file.size() >= 12) {
    require_checksum(file.substr(0, 8), file.substr(8, 4));
    const uint64_t size = little_endian_bits(file.substr(0, 8));
    if (file.size() < size + 16) break;
    require_checksum(file.substr(12, size), file.substr(12 + size, 4));
    events.push_back(parse_tensorboard_event(file.substr(12, size)));
    file.remove_prefix(size + 16);
  }
  return events;
}

}  // namespace cachet::test
