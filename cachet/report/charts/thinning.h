#pragma once

#include <cstddef>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

struct Point {
  double x = 0, y = 0;
  bool starts = false;   // whether a line begins here: at the first point, or at a point after a gap
  double deviation = 0;  // half the height of the band around the point
};

/// The points of a series that a chart shows.
struct DrawnSeries {
  std::vector<Point> points;    // all finite
  std::vector<double> missing;  // some finite x values with a y that is not finite
  size_t missing_count = 0;     // number of all points that were left out
  bool noisy = false;           // whether the points are so many and so noisy that their line is drawn thin
};

/// Returns at most `bound` >= 4 finite points of the series: its ends, and the minimum and maximum of each bucket of
/// neighbours, so that spikes stay visible. With `positive_only` (logarithmic scales), y <= 0 counts as not finite.
DrawnSeries drawn_series(const Series& series, size_t bound, bool positive_only = false);

}  // namespace cachet::report
