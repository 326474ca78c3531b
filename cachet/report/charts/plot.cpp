#include "cachet/report/charts/plot.h"

#include <algorithm>

#include "cachet/report/format.h"
#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

constexpr size_t kMaxDirectLabels = 4;
constexpr int kLongestDirectLabel = 18;
constexpr double kLetter = 7.4, kLine = 14;  // of a direct label
constexpr double kTickGap = 10;              // between the label of a tick and the frame

/// Cut names may look the same: where one is too long there are none, and the legend has to do.
bool has_direct_labels(const LineChart& chart, const PlotSize& size) {
  if (!size.direct_labels || chart.series.size() < 2 || chart.series.size() > kMaxDirectLabels) return false;
  return std::all_of(chart.series.begin(), chart.series.end(),
                     [](const Series& series) { return display_width(series.name) <= kLongestDirectLabel; });
}

void draw_axes(Markup& svg, const LineChart& chart, const PlotFrame& frame, const Axis& x, const Axis& y,
               const PlotSize& size) {
  svg.open("g", {{"class", "axes"}});
  const Ticks rows = y.ticks(size.y_ticks);
  for (size_t i = 0; i < rows.positions.size(); ++i) {
    const double at = y.at(rows.positions[i]);
    svg.empty("line", {{"class", "grid"}, {"x1", frame.left}, {"x2", frame.right}, {"y1", at}, {"y2", at}});
    svg.element("text", {{"x", frame.left - 8}, {"y", at}, {"dy", "0.35em"}, {"text-anchor", "end"}}, rows.labels[i]);
  }
  const Ticks columns = x.ticks(size.x_ticks);
  for (size_t i = 0; i < columns.positions.size(); ++i) {
    const double at = x.at(columns.positions[i]);
    svg.empty("line", {{"class", "tick"}, {"x1", at}, {"x2", at}, {"y1", frame.bottom}, {"y2", frame.bottom + 4}});
    svg.element("text", {{"x", at}, {"y", frame.bottom + 6}, {"dy", "1em"}, {"text-anchor", "middle"}},
                columns.labels[i]);
  }
  svg.empty("line",
            {{"class", "base"}, {"x1", frame.left}, {"x2", frame.right}, {"y1", frame.bottom}, {"y2", frame.bottom}});
  if (size.axis_titles) {
    svg.element("text", {{"class", "axis-title"}, {"x", frame.right}, {"y", size.height - 4}, {"text-anchor", "end"}},
                chart.x_label);
    svg.element("text", {{"class", "axis-title"}, {"x", 0.0}, {"y", 0.0}, {"dy", "1em"}}, chart.y_label);
  }
  svg.close();
}

std::string place(const Point& point, const Axis& x, const Axis& y) {
  return coordinate(x.at(point.x)) + " " + coordinate(y.at(point.y));
}

std::string curve_path(const std::vector<Point>& points, const Axis& x, const Axis& y) {
  std::string path;
  for (const Point& point : points) path.append(point.starts ? "M" : "L").append(place(point, x, y));
  return path;
}

/// A closed path around each stretch of the line. On a logarithmic scale it ends at the frame where it would reach
/// zero.
std::string band_path(const std::vector<Point>& line, const Axis& x, const Axis& y) {
  std::string path;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = begin + 1;
    while (end < line.size() && !line[end].starts) ++end;
    std::string upper, lower;
    for (size_t i = begin; i < end; ++i) {
      const Point& point = line[i];
      const double least = std::max(point.y - point.deviation, y.least);
      upper.append(i == begin ? "M" : "L").append(place({point.x, point.y + point.deviation}, x, y));
      lower.insert(0, "L" + place({point.x, least}, x, y));
    }
    path += upper + lower + "Z";
    begin = end;
  }
  return path;
}

void draw_curve(Markup& svg, size_t index, const DrawnSeries& series, const PlotFrame& frame, const Axis& x,
                const Axis& y, bool markers) {
  const std::string line = curve_path(series.points, x, y);
  std::string dots;
  for (size_t i = 0; i < series.points.size(); ++i) {
    const Point& point = series.points[i];
    const bool alone = point.starts && (i + 1 == series.points.size() || series.points[i + 1].starts);
    // Round caps make a dot of it.
    if (alone || markers) dots.append("M").append(place(point, x, y)).append("h0");
  }
  svg.open("g", {{"class", series_class(index)}, {"data-series", std::to_string(index)}});
  const auto has_band = [](const Point& point) { return point.deviation > 0; };
  if (std::any_of(series.points.begin(), series.points.end(), has_band))
    svg.empty("path", {{"class", "band"}, {"d", band_path(series.points, x, y)}});
  if (!line.empty()) svg.empty("path", {{"class", series.noisy ? "curve noise" : "curve"}, {"d", line}});
  if (!dots.empty()) svg.empty("path", {{"class", "dots"}, {"d", dots}});
  std::string crosses;
  for (double missing : series.missing) {
    crosses += "M" + coordinate(x.at(missing) - 3) + " " + coordinate(frame.bottom - 8) + "l6 6m0 -6l-6 6";
  }
  if (!crosses.empty()) svg.empty("path", {{"class", "missing"}, {"d", crosses}});
  svg.close();
}

struct DirectLabel {
  size_t index;
  double y;
};

// Each label next to the end of its curve, moved apart where they would touch.
void draw_direct_labels(Markup& svg, const LineChart& chart, const std::vector<DrawnSeries>& series,
                        const PlotFrame& frame, const Axis& y) {
  std::vector<DirectLabel> labels;
  for (size_t i = 0; i < series.size(); ++i) {
    if (!series[i].points.empty()) labels.push_back({i, y.at(series[i].points.back().y)});
  }
  std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  for (size_t i = 1; i < labels.size(); ++i) labels[i].y = std::max(labels[i].y, labels[i - 1].y + kLine);
  double limit = frame.bottom - 2;
  for (size_t i = labels.size(); i-- > 0; limit = labels[i].y - kLine) labels[i].y = std::min(labels[i].y, limit);
  for (const DirectLabel& label : labels) {
    svg.element("text",
                {{"class", "direct " + series_class(label.index)},
                 {"data-series", std::to_string(label.index)},
                 {"x", frame.right + 8},
                 {"y", label.y},
                 {"dy", "0.35em"}},
                chart.series[label.index].name);
  }
}

}  // namespace

std::string series_class(size_t index) {
  static constexpr size_t colours = 6, dashes = 3;
  const size_t dash = index / colours % dashes;
  return "s" + std::to_string(index % colours) + (dash > 0 ? " d" + std::to_string(dash) : "");
}

PlotFrame plot_frame(const LineChart& chart, const Axis& x, const Axis& y, const PlotSize& size) {
  int longest = 0;
  for (const std::string& label : y.ticks(size.y_ticks).labels) longest = std::max(longest, display_width(label));
  const double left = std::max(kTickGap + size.letter * longest, 40.0);
  const Ticks columns = x.ticks(size.x_ticks);
  double right = 14;
  if (!columns.labels.empty()) right = std::max(right, size.letter * display_width(columns.labels.back()) / 2);
  if (has_direct_labels(chart, size)) {
    int letters = 0;
    for (const Series& series : chart.series) letters = std::max(letters, display_width(series.name));
    right = std::max(right, 14 + kLetter * letters);
  }
  return {left, size.axis_titles && !chart.y_label.empty() ? 30.0 : 10.0, size.width - right,
          size.height - (size.axis_titles ? 44 : 24)};
}

void draw_plot(Markup& svg, const LineChart& chart, const std::vector<DrawnSeries>& series, Axis y,
               const PlotSize& size, bool hidden) {
  Axis x = x_axis(series, chart.marks);
  const PlotFrame frame = plot_frame(chart, x, y, size);
  x.from = frame.left, x.to = frame.right;
  y.from = frame.bottom, y.to = frame.top;
  svg.open("svg", {{"class", std::string("plot") + (hidden ? " hidden" : "")},
                   {"xmlns", "http://www.w3.org/2000/svg"},
                   {"viewBox", "0 0 " + coordinate(size.width) + " " + coordinate(size.height)},
                   {"role", "img"}});
  svg.element("title", {}, chart.title);
  svg.element("desc", {}, described(chart, series));
  draw_axes(svg, chart, frame, x, y, size);
  for (const double mark : chart.marks)
    svg.empty("line",
              {{"class", "mark"}, {"x1", x.at(mark)}, {"x2", x.at(mark)}, {"y1", frame.top}, {"y2", frame.bottom}});
  bool empty = true;
  for (size_t i = 0; i < series.size(); ++i) {
    draw_curve(svg, i, series[i], frame, x, y, chart.markers);
    empty = empty && series[i].points.empty();
  }
  if (has_direct_labels(chart, size)) draw_direct_labels(svg, chart, series, frame, y);
  if (empty) {
    svg.element("text",
                {{"class", "nothing"},
                 {"x", (frame.left + frame.right) / 2},
                 {"y", (frame.top + frame.bottom) / 2},
                 {"text-anchor", "middle"}},
                "no values yet");
  }
  svg.close();
}

std::string described(const LineChart& chart, const std::vector<DrawnSeries>& series) {
  std::string text;
  for (size_t i = 0; i < series.size(); ++i) {
    const std::vector<Point>& points = series[i].points;
    text += (text.empty() ? "" : "; ") + chart.series[i].name + ": ";
    if (points.empty()) {
      text += "no values";
      continue;
    }
    const auto [least, most] =
        std::minmax_element(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
    text += "from " + format_number(points.front().y) + " to " + format_number(points.back().y) + ", between " +
            format_number(least->y) + " and " + format_number(most->y);
  }
  return text;
}

}  // namespace cachet::report
