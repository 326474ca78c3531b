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
  bool whole = false;       // whether the values are whole numbers, such as steps

  double at(double value) const;
  Ticks ticks(int count) const;
};

/// x_axis() and y_axis() return an axis with the range of the points that the chart shows. If all points have the same
/// coordinate, the range is widened on both sides.
Axis x_axis(const std::vector<DrawnSeries>& series, const std::vector<double>& marks = {});
Axis y_axis(const std::vector<DrawnSeries>& series, bool logarithmic, bool from_zero);

}  // namespace cachet::report
