#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::train {

/// A duration of training: "500 steps" or "3 epochs".
struct Duration {
  enum class Unit { steps, epochs };
  int64_t count = 0;
  Unit unit = Unit::steps;

  int64_t steps(int64_t steps_per_epoch) const;  // number of steps; saturates instead of overflowing
  std::string text() const;                      // "500 steps", "1 epoch"
  bool operator==(const Duration&) const = default;
};

/// Reads a duration such as "500 steps" or "1 epoch". Reports a problem if the value is not a duration, or if its
/// number of steps or epochs is below `least`.
Duration read_duration(const config::View& view, std::string_view key, Duration fallback, int64_t least = 1);

/// Reads a list of durations, each by the rules of read_duration().
std::vector<Duration> read_durations(const config::View& view, std::string_view key,
                                     const std::vector<Duration>& fallback, int64_t least = 1);

using Span [[deprecated("Duration")]] = Duration;
[[deprecated("read_duration")]] inline Duration read_span(const config::View& view, std::string_view key,
                                                          Duration fallback, int64_t least = 1) {
  return read_duration(view, key, fallback, least);
}
[[deprecated("read_durations")]] inline std::vector<Duration> read_spans(const config::View& view, std::string_view key,
                                                                         const std::vector<Duration>& fallback,
                                                                         int64_t least = 1) {
  return read_durations(view, key, fallback, least);
}

}  // namespace cachet::train
