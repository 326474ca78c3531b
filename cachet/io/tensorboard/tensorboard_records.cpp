#include "cachet/io/tensorboard/tensorboard_records.h"

#include <algorithm>

#include "cachet/io/digests/crc32c.h"
#include "cachet/io/tensorboard/protobuf_message.h"

namespace cachet::io {
namespace {

// Numbers of fields in tensorflow's event.proto, summary.proto, tensor.proto and tensor_shape.proto.
namespace event_field {
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace session_log_field {
constexpr uint32_t kStatus = 1;
constexpr int64_t kStart = 1;
}  // namespace session_log_field
namespace summary_field {
constexpr uint32_t kValue = 1;
}
namespace value_field {
constexpr uint32_t kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
}
namespace tensor_field {
constexpr uint32_t kType = 1, kShape = 2, kStrings = 8;
constexpr int64_t kStringType = 7;
}  // namespace tensor_field
namespace shape_field {
constexpr uint32_t kDimension = 2, kSize = 1;
}
namespace metadata_field {
constexpr uint32_t kPlugin = 1, kPluginName = 1, kDisplayName = 2, kDescription = 3;
}

std::string in_little_endian(uint64_t value, int count) {
  std::string bytes;
  for (; count > 0; --count, value >>= 8) bytes += static_cast<char>(value);
  return bytes;
}

// A checksum of bytes that hold checksums themselves would be weak, so the format turns and shifts it.
std::string masked_checksum(std::string_view bytes) {
  const uint32_t checksum = crc32c(bytes);
  return in_little_endian((checksum >> 15 | checksum << 17) + 0xA282EAD8U, 4);
}

std::string framed(const ProtobufMessage& event) {
  const std::string& content = event.str();
  const std::string length = in_little_endian(content.size(), 8);
  return length + masked_checksum(length) + content + masked_checksum(content);
}

uint64_t from_little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Of an event as event_at() begins it; nothing of another one.
std::optional<int64_t> step_of(std::string_view event) {
  constexpr size_t kWallTimeBytes = 9;  // the field's key and a double
  constexpr char kWallTimeKey = event_field::kWallTime << 3 | 1, kStepKey = event_field::kStep << 3;
  constexpr int kMaxBytes = 10;  // of a varint
  if (event.size() < kWallTimeBytes + 2 || event[0] != kWallTimeKey || event[kWallTimeBytes] != kStepKey)
    return std::nullopt;
  event.remove_prefix(kWallTimeBytes + 1);
  uint64_t step = 0;
  for (int i = 0; i < std::min<int>(kMaxBytes, static_cast<int>(event.size())); ++i) {
    const auto byte = static_cast<unsigned char>(event[static_cast<size_t>(i)]);
    step |= static_cast<uint64_t>(byte & 0x7F) << 7 * i;
    if (byte < 0x80) return static_cast<int64_t>(step);
  }
  return std::nullopt;
}

ProtobufMessage event_at(double wall_time, int64_t step) {
  ProtobufMessage event;
  event.real(event_field::kWallTime, wall_time).integer(event_field::kStep, step);
  return event;
}

std::string framed_summary(double wall_time, int64_t step, const ProtobufMessage& summary) {
  return framed(event_at(wall_time, step).message(event_field::kSummary, summary));
}

ProtobufMessage metadata_for(std::string_view plugin_name) {
  ProtobufMessage plugin, metadata;
  plugin.bytes(metadata_field::kPluginName, plugin_name);
  return metadata.message(metadata_field::kPlugin, plugin);
}

ProtobufMessage value_of(const TensorBoardScalar& scalar) {
  ProtobufMessage value;
  value.bytes(value_field::kTag, scalar.tag).real(value_field::kSimpleValue, static_cast<float>(scalar.value));
  if (scalar.title.empty() && scalar.description.empty()) return value;
  ProtobufMessage metadata = metadata_for("scalars");
  metadata.bytes(metadata_field::kDisplayName, scalar.title).bytes(metadata_field::kDescription, scalar.description);
  return value.message(value_field::kMetadata, metadata);
}

}  // namespace

std::optional<int64_t> last_tensorboard_step(std::string_view file) {
  constexpr size_t kLengthBytes = 8, kChecksumBytes = 4, kHeadBytes = kLengthBytes + kChecksumBytes;
  std::optional<int64_t> last;
  while (file.size() >= kHeadBytes) {
    const std::string_view length = file.substr(0, kLengthBytes);
    if (masked_checksum(length) != file.substr(kLengthBytes, kChecksumBytes)) break;
    const uint64_t size = from_little_endian(length);
    if (size > file.size() - kHeadBytes || file.size() - kHeadBytes - size < kChecksumBytes) break;
    const std::string_view content = file.substr(kHeadBytes, size);
    if (masked_checksum(content) != file.substr(kHeadBytes + size, kChecksumBytes)) break;
    const auto step = step_of(content);
    if (!step) break;
    last = step;
    file.remove_prefix(kHeadBytes + size + kChecksumBytes);
  }
  return last;
}

std::string tensorboard_version(double wall_time) {
  return framed(event_at(wall_time, 0).bytes(event_field::kFileVersion, "brain.Event:2"));
}

std::string tensorboard_session_start(double wall_time, int64_t step) {
  ProtobufMessage log;
  log.integer(session_log_field::kStatus, session_log_field::kStart);
  return framed(event_at(wall_time, step).message(event_field::kSessionLog, log));
}

std::string tensorboard_scalars(double wall_time, int64_t step, const std::vector<TensorBoardScalar>& values) {
  ProtobufMessage summary;
  for (const TensorBoardScalar& scalar : values) summary.message(summary_field::kValue, value_of(scalar));
  return framed_summary(wall_time, step, summary);
}

std::string tensorboard_text(double wall_time, int64_t step, std::string_view tag, std::string_view markdown) {
  ProtobufMessage dimension, shape, tensor, value, summary;
  dimension.integer(shape_field::kSize, 1);
  shape.message(shape_field::kDimension, dimension);
  tensor.integer(tensor_field::kType, tensor_field::kStringType)
      .message(tensor_field::kShape, shape)
      .bytes(tensor_field::kStrings, markdown);
  value.bytes(value_field::kTag, tag)
      .message(value_field::kTensor, tensor)
      .message(value_field::kMetadata, metadata_for("text"));
  return framed_summary(wall_time, step, summary.message(summary_field::kValue, value));
}

}  // namespace cachet::io
