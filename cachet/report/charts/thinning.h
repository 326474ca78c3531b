#pragma once

#include <cstddef>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

struct Point {
  double x = 0, y = 0;
  bool starts = false;   // no line leads here: the first point, or the first one after a gap
  double deviation = 0;  // half the height of the band around it
};

/// What is drawn of a series.
struct DrawnSeries {
  std::vector<Point> points;    // finite
  std::vector<double> missing;  // some of the x (finite) where y is not finite
  size_t missing_count = 0;     // all points that were left out
  std::vector<Point> trend;     // means of neighbours, where the points are many and noisy; else empty

  /// The line that leads the eye, and that a band lies around.
  const std::vector<Point>& line() const { return trend.empty() ? points : trend; }
};

/// At most `bound` points (4 at least) of the series' finite ones: ends, and the least and greatest of each bucket of
/// neighbours, so that spikes survive. Where `positive_only`, y <= 0 counts as not finite (logarithmic scales).
DrawnSeries drawn_series(const Series& series, size_t bound, bool positive_only = false);

}  // namespace cachet::report
