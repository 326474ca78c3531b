#pragma once

#include <optional>
#include <string>

#include "cachet/report/text/progress.h"

namespace cachet::report {

/// How a line may be drawn.
struct LineStyle {
  int columns = 80;      // the width that it must not exceed
  bool unicode = false;  // block characters, else ASCII
  bool colour = false;
};

/// One line with a bar for the steps of the epoch, the fields that have room (the least important go first), and the
/// time left at its end.
std::string bar_line(const ProgressState& state, std::optional<double> seconds_left, const LineStyle& style);

/// All fields on one line of any length, for logs: `train epoch 2/15, step 40/391, loss 0.512, …`.
std::string plain_line(const ProgressState& state, std::optional<double> seconds_left);

}  // namespace cachet::report
