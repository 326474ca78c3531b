#pragma once

#include <vector>

#include "cachet/report/charts/thinning.h"
#include "cachet/report/charts/ticks.h"

namespace cachet::report {

/// Maps values to pixels along one side of a plot.
struct Axis {
  double least = 0, most = 1;  // values at `from` and `to`
  bool logarithmic = false;
  double from = 0, to = 1;  // pixels
  bool whole = false;       // values are whole numbers, as steps are

  double at(double value) const;
  Ticks ticks(int count) const;
};

/// Return the axis whose range is exactly that of the drawn points; never empty.
Axis x_axis(const std::vector<DrawnSeries>& series);
Axis y_axis(const std::vector<DrawnSeries>& series, bool logarithmic, bool from_zero);

}  // namespace cachet::report
