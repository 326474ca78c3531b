#include "cachet/report/charts/line_chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cachet/report/format.h"
#include "cachet/report/table.h"

namespace cachet::report {

/// A script element that holds the value as data. No text in it can end the element; numbers that are not finite are
/// null.
std::string embedded_json(const nlohmann::json& value);

std::string embedded_json(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string element = "<script type=\"application/json\">";
  for (char c : text) {
    // Within JSON these stand in strings only, where they have another spelling that neither HTML nor XML reads.
    if (c == '<') {
      element += "\\u003c";
    } else if (c == '>') {
      element += "\\u003e";
    } else if (c == '&') {
      element += "\\u0026";
    } else {
      element += c;
    }
  }
  return element + "</script>";
}

namespace {

using nlohmann::json;

constexpr double kSmallLetter = 7;  // where text is as large on a phone as elsewhere

std::vector<DrawnSeries> drawn(const LineChart& chart, const PlotSize& size, bool positive_only) {
  std::vector<DrawnSeries> series;
  for (const Series& one : chart.series) series.push_back(drawn_series(one, size.points, positive_only));
  return series;
}

// Is there something to see on a logarithmic scale? Only positive values, and a range worth it, or the wish for one.
bool offers_logarithm(const LineChart& chart, const std::vector<DrawnSeries>& series) {
  double least = INFINITY, most = 0;
  for (const DrawnSeries& one : series) {
    for (const Point& point : one.points) {
      if (point.y > 0 || !chart.log_y) least = std::min(least, point.y);
      most = std::max(most, point.y);
    }
  }
  return least > 0 && most > 0 && (chart.log_y || most / least >= 5);
}

json view_of(const LineChart& chart, const std::vector<DrawnSeries>& series, const Axis& y, const PlotSize& size) {
  const Axis x = x_axis(series, chart.marks);
  const PlotFrame frame = plot_frame(chart, x, y, size);
  return {{"log", y.logarithmic},
          {"x", {x.least, x.most}},
          {"y", {y.least, y.most}},
          {"frame", {frame.left, frame.top, frame.right, frame.bottom}}};
}

// Six digits are more than a screen shows and a third of the length.
double shortened(double value) { return json::parse(format_number(value, 6), nullptr, false).get<double>(); }

json numbers_of(const LineChart& chart, const std::vector<DrawnSeries>& series) {
  json numbers = json::array();
  for (size_t i = 0; i < series.size(); ++i) {
    json x = json::array(), y = json::array();
    for (const Point& point : series[i].points) {
      x.push_back(shortened(point.x));
      y.push_back(shortened(point.y));
    }
    numbers.push_back({{"name", chart.series[i].name}, {"x", std::move(x)}, {"y", std::move(y)}});
    json starts = json::array();  // of lines after a gap
    for (size_t k = 1; k < series[i].points.size(); ++k)
      if (series[i].points[k].starts) starts.push_back(k);
    if (!starts.empty()) numbers.back()["starts"] = std::move(starts);
    if (chart.series[i].deviation.empty()) continue;
    json& deviation = numbers.back()["deviation"] = json::array();
    for (const Point& point : series[i].points) deviation.push_back(shortened(point.deviation));
  }
  return numbers;
}

Table numbers_table(const LineChart& chart) {
  Table table;
  table.columns = {{"series"}};
  for (const char* name : {"points", "first", "least", "greatest", "last"}) {
    table.columns.push_back({name, Alignment::right});
  }
  for (const Series& series : chart.series) {
    const DrawnSeries all = drawn_series(series, std::max<size_t>(series.y.size(), 4));
    std::vector<Cell> row = {series.name, std::to_string(all.points.size())};
    if (!all.points.empty()) {
      const auto [least, most] = std::minmax_element(all.points.begin(), all.points.end(),
                                                     [](const Point& a, const Point& b) { return a.y < b.y; });
      for (double y : {all.points.front().y, least->y, most->y, all.points.back().y}) row.push_back(format_number(y));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string missing_note(const std::vector<Series>& series) {
  size_t count = 0;
  for (const Series& one : series) count += drawn_series(one, 4).missing_count;
  if (count == 0) return "";
  return count == 1 ? "One value is not finite (×)." : std::to_string(count) + " values are not finite (×).";
}

void draw_legend(Markup& html, const std::vector<Series>& series) {
  if (series.size() < 2) return;
  html.open("div", {{"class", "legend"}, {"role", "group"}, {"aria-label", "Series"}});
  for (size_t i = 0; i < series.size(); ++i) {
    html.open("button",
              {{"type", "button"}, {"class", "key"}, {"aria-pressed", "true"}, {"data-toggle", std::to_string(i)}});
    html.open("svg", {{"class", "swatch " + series_class(i)}, {"viewBox", "0 0 22 8"}, {"aria-hidden", "true"}});
    html.empty("path", {{"class", "curve"}, {"d", "M1 4H21"}}).close();
    html.element("span", {}, series[i].name).close();
  }
  html.close();
}

bool draw_plot_box(Markup& html, const LineChart& chart, const PlotSize& size, const Axis* y) {
  const std::vector<DrawnSeries> linear = drawn(chart, size, false);
  const bool both = y == nullptr && offers_logarithm(chart, linear);
  json views = json::array();
  html.open("div", {{"class", "plot-box"}});
  const auto add = [&](const std::vector<DrawnSeries>& series, const Axis& axis) {
    draw_plot(html, chart, series, axis, size, !views.empty());
    views.push_back(view_of(chart, series, axis, size));
  };
  const auto add_linear = [&] { add(linear, y ? *y : y_axis(linear, false, chart.y_from_zero)); };
  const auto add_logarithmic = [&] {
    const std::vector<DrawnSeries> positive = drawn(chart, size, true);
    add(positive, y_axis(positive, true, false));
  };
  if (!(both && chart.log_y)) add_linear();
  if (both) add_logarithmic();
  if (both && chart.log_y) add_linear();
  html.raw(embedded_json({{"x_label", chart.x_label}, {"series", numbers_of(chart, linear)}, {"views", views}}));
  html.close();
  return both;
}

bool has_one_point(const LineChart& chart) {
  bool any = false;
  for (const Series& series : chart.series) {
    const DrawnSeries drawn = drawn_series(series, 4);
    if (drawn.points.size() > 1 || drawn.missing_count > 0) return false;
    any = any || !drawn.points.empty();
  }
  return any;
}

void draw_numbers(Markup& html, const LineChart& chart) {
  const bool named = chart.series.size() > 1;
  html.open("dl", {{"class", "numbers"}});
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const DrawnSeries drawn = drawn_series(chart.series[i], 4);
    if (drawn.points.empty()) continue;
    const Point& point = drawn.points.front();
    std::string value = format_number(point.y, 4);
    if (point.deviation > 0) value += " ± " + format_number(point.deviation, 2);
    if (chart.y_label.starts_with('%')) value += " " + chart.y_label;
    const std::string place = chart.x_label + (chart.x_label.empty() ? "" : " ") + format_number(point.x);
    html.open("div").element("dd", {{"class", "value"}}, value);
    html.element("dt", {}, (named ? chart.series[i].name + ", " : "") + place).close();
  }
  html.close();
}

namespace {

void draw_note(Markup& html, const LineChart& chart) {
  const std::string note = missing_note(chart.series);
  if (chart.note.empty() && note.empty()) return;
  html.paragraph("note", chart.note + (chart.note.empty() || note.empty() ? "" : " ") + note);
}

void draw_scale_button(Markup& html, const LineChart& chart) {
  html.element("button", {{"type", "button"}, {"class", "scale"}}, chart.log_y ? "linear scale" : "log scale");
}

void draw_small(Markup& html, const LineChart& chart) {
  const PlotSize size{360, 210, 5, 5, 400, false, false, kSmallLetter};
  html.open("figure", {{"class", "chart small"}}).open("figcaption").text(chart.title);
  if (!chart.y_label.empty()) html.raw(" ").element("small", {}, chart.y_label);
  html.close();
  if (has_one_point(chart)) {
    draw_numbers(html, chart);
  } else {
    draw_legend(html, chart.series);
    if (draw_plot_box(html, chart, size)) draw_scale_button(html, chart);
  }
  draw_note(html, chart);
  html.close();
}

}  // namespace

void draw(Markup& html, const LineChart& chart) {
  const bool wide = chart.large && !has_one_point(chart);
  html.open("figure", {{"class", wide ? "chart wide" : "chart"}}).element("figcaption", {}, chart.title);
  if (has_one_point(chart)) {
    draw_numbers(html, chart);
    draw_note(html, chart);
    html.close();
    return;
  }
  draw_legend(html, chart.series);
  if (wide) {  // a drawing for wide windows, and one whose text a narrow window leaves large enough
    html.open("div", {{"class", "on-wide"}});
    draw_plot_box(html, chart, {1120, 330, 12, 6, 900, true, true, kSmallLetter});
    html.close().open("div", {{"class", "on-narrow"}});
  }
  const bool has_other_scale = draw_plot_box(html, chart, {});
  if (wide) html.close();
  if (has_other_scale) draw_scale_button(html, chart);
  draw_note(html, chart);
  draw_details(html, "Numbers", numbers_table(chart));
  html.close();
}

void draw(Markup& html, const ChartFold& fold) {
  html.open("details", {{"class", "fold wide"}}).element("summary", {}, fold.title);
  html.open("div", {{"class", "small-charts"}});
  for (const LineChart& chart : fold.charts) draw_small(html, chart);
  html.close().close();
}

}  // namespace cachet::report
