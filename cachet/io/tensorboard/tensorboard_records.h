#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// The records of a TensorBoard event file, framed so that they can be appended: TFRecord framing (length and content,
/// each with a masked CRC-32C) around tensorflow.Event. `wall_time` is in seconds since 1970. TensorBoard shows files
/// with "tfevents" in their names. In a tag such as "training/loss", the part before the slash is the group of the tag.

/// Returns the first record of every file.
std::string tensorboard_version(double wall_time);

/// Returns a record that makes readers discard all steps from `step` on, because they are about to be replaced.
std::string tensorboard_session_start(double wall_time, int64_t step);

/// Returns the step of the last complete record of such a file. Empty if there is none. Reading stops at a
/// record that is truncated or damaged.
std::optional<int64_t> last_tensorboard_step(std::string_view file);

/// A value under a tag. For each tag, TensorBoard shows the first title and the first description (in Markdown);
/// without a title it shows the tag.
struct TensorBoardScalar {
  std::string tag;
  double value = 0;  // stored as float32
  std::string title{}, description{};
};

std::string tensorboard_scalars(double wall_time, int64_t step, const std::vector<TensorBoardScalar>& values);

/// Returns the record of a text in Markdown.
std::string tensorboard_text(double wall_time, int64_t step, std::string_view tag, std::string_view markdown);

}  // namespace cachet::io
