#pragma once

#include <optional>
#include <string>

namespace cachet::app {

/// What a user of bfloat16 on this processor should know: that products take longer than in float32, where they do.
/// Measures for less than half a second.
std::optional<std::string> slow_bfloat16_note();

/// The same of a measured ratio (train::bfloat16_time_ratio).
std::optional<std::string> slow_bfloat16_note(double ratio);

}  // namespace cachet::app
