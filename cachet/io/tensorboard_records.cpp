#include "cachet/io/tensorboard_records.h"

#include "cachet/io/crc32c.h"
#include "cachet/io/protobuf_message.h"

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
