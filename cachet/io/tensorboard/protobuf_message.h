#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace cachet::io {

/// A protocol buffer in its file format (protobuf.dev/programming-guides/encoding), written field by field. A field is
/// written even if its value is zero.
class ProtobufMessage {
 public:
  ProtobufMessage& integer(uint32_t field, int64_t value) {  // for fields of type int32, int64 or enum
    key(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  ProtobufMessage& real(uint32_t field, double value) {
    key(field, 1);
    fixed(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }
  ProtobufMessage& real(uint32_t field, float value) {
    key(field, 5);
    fixed(std::bit_cast<uint32_t>(value), 4);
    return *this;
  }
  ProtobufMessage& bytes(uint32_t field, std::string_view value) {  // for fields of type string or bytes
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& message(uint32_t field, const ProtobufMessage& value) { return bytes(field, value.bytes_); }

  const std::string& str() const { return bytes_; }

 private:
  void key(uint32_t field, uint32_t wire_type) { varint(uint64_t{field} << 3 | wire_type); }
  void varint(uint64_t value) {
    for (; value > 0x7F; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void fixed(uint64_t value, int count) {
    for (; count > 0; --count, value >>= 8) bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace cachet::io
