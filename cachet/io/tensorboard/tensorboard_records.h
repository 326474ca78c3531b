#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// The functions of this file return records that can be appended to a TensorBoard event file. A record is a
/// tensorflow.Event in TFRecord framing (length and content, each with a masked CRC-32C). `wall_time` is in seconds
/// since 1970. TensorBoard shows files with "tfevents" in their names. In the tag "training/loss", "training" is the
/// group.

/// Returns the record with which every event file begins.
std::string tensorboard_version(double wall_time);

/// Returns a record that makes readers discard all earlier records from step `step` on; new records replace them.
std::string tensorboard_session_start(double wall_time, int64_t step);

/// Returns the step of the last complete record of an event file, or an empty value if there is none. Reading stops at
/// a truncated or damaged record.
std::optional<int64_t> last_tensorboard_step(std::string_view file);

/// A value of a tag. For each tag, TensorBoard shows the first title and the first description (in Markdown). A tag
/// without a title is shown by its name.
struct TensorBoardScalar {
  std::string tag;
  double value = 0;  // stored as float32
  std::string title{}, description{};
};

std::string tensorboard_scalars(double wall_time, int64_t step, const std::vector<TensorBoardScalar>& values);

/// Returns a record that stores a text in Markdown.
std::string tensorboard_text(double wall_time, int64_t step, std::string_view tag, std::string_view markdown);

}  // namespace cachet::io
