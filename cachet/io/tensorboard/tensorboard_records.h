#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// The records of a TensorBoard event file, each framed and ready to be appended: TFRecord framing (length and content
/// with a masked CRC-32C each) around tensorflow.Event. `wall_time` is in seconds since 1970. TensorBoard shows files
/// whose names hold "tfevents", and of tags "training/loss" the part before the slash as a group.

/// What every file begins with.
std::string tensorboard_version(double wall_time);

/// Makes a reader forget all steps from `step` on, because they are about to be replaced.
std::string tensorboard_session_start(double wall_time, int64_t step);

/// The step of the last whole record of a file that is made of these records; nothing if it has none. What follows a
/// record that is cut short or damaged is not read.
std::optional<int64_t> last_tensorboard_step(std::string_view file);

/// A value under a tag. Of each tag TensorBoard shows the title and the description (in Markdown) that came first; with
/// no title it shows the tag.
struct TensorBoardScalar {
  std::string tag;
  double value = 0;  // stored as float32
  std::string title{}, description{};
};

std::string tensorboard_scalars(double wall_time, int64_t step, const std::vector<TensorBoardScalar>& values);

/// A text in Markdown.
std::string tensorboard_text(double wall_time, int64_t step, std::string_view tag, std::string_view markdown);

}  // namespace cachet::io
