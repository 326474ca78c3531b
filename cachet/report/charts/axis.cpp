#include "cachet/report/charts/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cachet::report {
namespace {

struct Span {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  void add(double value) { least = std::min(least, value), most = std::max(most, value); }
  bool empty() const { return least > most; }
};

// Where all values are equal, a span around them that doubles can still distinguish.
Span widened(Span span) {
  if (span.empty()) return {0, 1};
  if (span.least < span.most) return span;
  const double half = span.least == 0 ? 1 : std::abs(span.least) * 0.5;
  return {span.least - half, span.most + half};
}

// Where all values are equal, a span between this value and a value nearer to 0. A fraction of 1 gets no axis beyond 1.
Span below_or_above(Span span) {
  const Span wide = widened(span);
  if (span.empty() || span.least < span.most || span.least == 0) return wide;
  return span.least > 0 ? Span{wide.least, span.most} : Span{span.least, wide.most};
}

// Keeps differences of the ends finite, and the ends apart.
Axis bounded(double least, double most) {
  constexpr double limit = std::numeric_limits<double>::max() / 4;
  Axis axis{std::clamp(least, -limit, limit), std::clamp(most, -limit, limit)};
  if (!(axis.least < axis.most)) {
    axis.most = std::max(axis.least, axis.most);
    axis.least = axis.most - std::abs(axis.most) / 2;
  }
  return axis;
}

}  // namespace

double Axis::at(double value) const {
  const double fraction =
      logarithmic ? std::log(value / least) / std::log(most / least) : (value - least) / (most - least);
  return from + fraction * (to - from);
}

Ticks Axis::ticks(int count) const {
  return logarithmic ? logarithmic_ticks(least, most, count) : linear_ticks(least, most, count, whole);
}

Axis x_axis(const std::vector<DrawnSeries>& series, const std::vector<double>& marks) {
  Span span;
  bool whole = true;
  const auto add = [&](double x) {
    span.add(x);
    whole = whole && x == std::floor(x);
  };
  for (const DrawnSeries& one : series) {
    for (const Point& point : one.points) add(point.x);
    for (double x : one.missing) add(x);
  }
  for (double x : marks) add(x);
  whole = whole && !span.empty();
  span = widened(span);
  Axis axis = bounded(span.least, span.most);
  axis.whole = whole;
  return axis;
}

Axis y_axis(const std::vector<DrawnSeries>& series, bool logarithmic, bool from_zero) {
  Span span;
  for (const DrawnSeries& one : series) {
    for (const Point& point : one.points) {
      span.add(point.y + point.deviation);
      if (!logarithmic || point.y > point.deviation) span.add(point.y - point.deviation);
    }
  }
  if (logarithmic) {
    if (span.empty()) span = {1, 10};
    const double around = span.least == span.most ? 2 : 1;
    Axis axis = bounded(std::max(span.least / around, std::numeric_limits<double>::min()), span.most * around);
    axis.logarithmic = true;
    return axis;
  }
  if (from_zero && !span.empty()) span.add(0);
  const bool stays_zero = from_zero && span.least == 0 && span.most == 0;
  span = stays_zero ? Span{0, 1} : below_or_above(span);
  return bounded(span.least, span.most);
}

}  // namespace cachet::report
