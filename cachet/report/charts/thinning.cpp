#include "cachet/report/charts/thinning.h"

#include <algorithm>
#include <cmath>

namespace cachet::report {
namespace {

constexpr size_t kMaxMissingMarks = 60;
constexpr size_t kFewestNoisyPoints = 120;
constexpr double kNoisyPath = 5;  // times the range: up and down twice is a curve, more is noise

// The first and last of the points, and the extremes of each of `buckets` groups between them.
std::vector<Point> thinned(const std::vector<Point>& points, size_t buckets) {
  const size_t inner = points.size() - 2;
  std::vector<Point> kept = {points.front()};
  bool gap = false;  // a start that was dropped passes on to the next point that is drawn
  const auto lower = [](const Point& a, const Point& b) { return a.y < b.y; };
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    const auto begin = points.begin() + 1 + bucket * inner / buckets;
    const auto end = points.begin() + 1 + (bucket + 1) * inner / buckets;
    const auto [least, most] = std::minmax_element(begin, end, lower);
    for (auto point = begin; point != end; ++point) {
      gap = gap || point->starts;
      if (point != least && point != most) continue;
      kept.push_back({point->x, point->y, gap, point->deviation});
      gap = false;
    }
  }
  kept.push_back({points.back().x, points.back().y, gap || points.back().starts, points.back().deviation});
  return kept;
}

// Whether the path of the points up and down is much longer than their range.
bool is_noisy(const std::vector<Point>& points) {
  if (points.size() < kFewestNoisyPoints) return false;
  double path = 0, least = points[0].y, most = points[0].y;
  for (size_t i = 1; i < points.size(); ++i) {
    path += std::abs(points[i].y - points[i - 1].y);
    least = std::min(least, points[i].y);
    most = std::max(most, points[i].y);
  }
  return path > kNoisyPath * (most - least);
}

}  // namespace

DrawnSeries drawn_series(const Series& series, size_t bound, bool positive_only) {
  DrawnSeries drawn;
  bool starts = true;
  const size_t length = std::min(series.x.size(), series.y.size());
  for (size_t i = 0; i < length; ++i) {
    const double x = series.x[i], y = series.y[i];
    if (std::isfinite(x) && std::isfinite(y) && !(positive_only && y <= 0)) {
      const double deviation = i < series.deviation.size() ? series.deviation[i] : 0;
      drawn.points.push_back({x, y, starts, std::isfinite(deviation) ? deviation : 0});
      starts = false;
    } else {
      starts = true;
      ++drawn.missing_count;
      if (std::isfinite(x)) drawn.missing.push_back(x);
    }
  }
  drawn.noisy = is_noisy(drawn.points);
  bound = std::max<size_t>(bound, 4);
  if (drawn.points.size() > bound) drawn.points = thinned(drawn.points, (bound - 2) / 2);
  if (drawn.missing.size() > kMaxMissingMarks) {
    std::vector<double> some;
    for (size_t k = 0; k < kMaxMissingMarks; ++k) {
      some.push_back(drawn.missing[k * (drawn.missing.size() - 1) / (kMaxMissingMarks - 1)]);
    }
    drawn.missing = std::move(some);
  }
  return drawn;
}

}  // namespace cachet::report
