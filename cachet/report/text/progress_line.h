#pragma once

#include <optional>
#include <string>

#include "cachet/report/text/progress.h"

namespace cachet::report {

/// How a progress line may be drawn on an output: its width, its characters and its colours.
struct LineStyle {
  int columns = 80;      // maximum width
  bool unicode = false;  // whether to draw with block characters, or else in ASCII
  bool colour = false;
};

/// Returns one line with a bar for the steps of the epoch, the fields that fit, and the time left. If not all fields
/// fit, the least important fields are left out first.
std::string bar_line(const ProgressState& state, std::optional<double> seconds_left, const LineStyle& style);

/// Returns all fields on one line of any length, for logs: `train epoch 2/15, step 40/391, loss 0.512, …`.
std::string plain_line(const ProgressState& state, std::optional<double> seconds_left);

}  // namespace cachet::report
