#pragma once

#include <optional>
#include <string>

namespace cachet::app {

/// Returns a note for users of bfloat16 if matrix products take longer in bfloat16 than in float32 on this processor.
/// Measures for less than half a second.
std::optional<std::string> slow_bfloat16_note();

/// Returns this note for a measured ratio (train::bfloat16_time_ratio).
std::optional<std::string> slow_bfloat16_note(double ratio);

}  // namespace cachet::app
