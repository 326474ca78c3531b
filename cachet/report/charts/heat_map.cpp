#include "cachet/report/charts/heat_map.h"

#include <algorithm>
#include <cmath>

#include "cachet/report/format.h"
#include "cachet/report/table.h"
#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

constexpr size_t kMaxCells = 20'000;
constexpr double kFaintest = 0.06;        // the least value is still a cell
constexpr double kDarkBackground = 0.68;  // from this opacity on, text is drawn in the light colour
constexpr double kRowHeight = 28, kLowRowHeight = 15, kHead = 22, kAxesLine = 18, kScale = 40, kWidth = 560;
constexpr double kLetter = 7, kMargin = 12;  // of a row's name
constexpr int kMaxLetters = 34;              // so that the names of deep layers differ

// Rows are low in a map of many, so that it fits a screen.
double row_height(const HeatMap& map) { return map.rows.size() > 28 ? kLowRowHeight : kRowHeight; }

struct HeatScale {
  double least = 0, most = 1;
  double fraction(double value) const {
    return most > least ? std::clamp((value - least) / (most - least), 0.0, 1.0) : 0.5;
  }
};

HeatScale scale_of(const HeatMap& map) {
  HeatScale scale{INFINITY, -INFINITY};
  for (double value : map.values) {
    if (!std::isfinite(value)) continue;
    scale.least = std::min(scale.least, value);
    scale.most = std::max(scale.most, value);
  }
  if (scale.least > scale.most) scale = {};
  return {map.least.value_or(scale.least), map.most.value_or(scale.most)};
}

double value_at(const HeatMap& map, size_t row, size_t column) {
  const size_t index = row * map.columns.size() + column;
  return index < map.values.size() ? map.values[index] : std::numeric_limits<double>::quiet_NaN();
}

std::string heat_text(double value) { return std::isfinite(value) ? format_number(value, 3) : "no value"; }

void draw_heat_scale(Markup& svg, const HeatScale& scale, double left, double top) {
  constexpr int steps = 24;
  constexpr double width = 160;
  for (int i = 0; i < steps; ++i) {
    const double fraction = (i + 0.5) / steps;
    svg.empty("rect", {{"class", "heat"},
                       {"x", left + i * width / steps},
                       {"y", top},
                       {"width", width / steps + 0.2},
                       {"height", 8.0},
                       {"fill-opacity", kFaintest + (1 - kFaintest) * fraction}});
  }
  svg.element("text", {{"x", left - 6}, {"y", top + 8}, {"text-anchor", "end"}}, format_number(scale.least, 3));
  svg.element("text", {{"x", left + width + 6}, {"y", top + 8}}, format_number(scale.most, 3));
}

void draw_cell(Markup& svg, const HeatMap& map, size_t row, size_t column, const HeatScale& scale, double x, double y,
               double width) {
  const double value = value_at(map, row, column);
  const bool finite = std::isfinite(value);
  const double opacity = finite ? kFaintest + (1 - kFaintest) * scale.fraction(value) : 0;
  svg.open("rect", {{"class", finite ? "heat" : "heat absent"},
                    {"x", x},
                    {"y", y},
                    {"width", width - 2},
                    {"height", row_height(map) - 2},
                    {"rx", 2.0},
                    {"fill-opacity", opacity}});
  svg.element("title", {}, map.rows[row] + ", " + map.columns[column] + ": " + heat_text(value)).close();
  if (width < 30) return;
  svg.element("text",
              {{"class", opacity > kDarkBackground ? "in-cell on-heat" : "in-cell"},
               {"x", x + width / 2 - 1},
               {"y", y + row_height(map) / 2 - 1},
               {"dy", "0.35em"},
               {"text-anchor", "middle"}},
              finite ? format_fixed(value, 2) : "–");
}

void draw_heat_svg(Markup& svg, const HeatMap& map) {
  int letters = display_width(map.y_label);
  for (const std::string& row : map.rows) letters = std::max(letters, display_width(row));
  const double left = std::max(std::min(letters, kMaxLetters) * kLetter + kMargin, 40.0);
  const double width = (kWidth - left) / map.columns.size();
  // Above the names of the columns where it is too long to stand before them.
  const std::string axes = map.y_label + " \\ " + map.x_label;
  const double head = display_width(axes) * kLetter > left ? kHead + kAxesLine : kHead;
  const double bottom = head + row_height(map) * map.rows.size();
  const HeatScale scale = scale_of(map);
  svg.open("svg", {{"class", "plot"},
                   {"xmlns", "http://www.w3.org/2000/svg"},
                   {"role", "img"},
                   {"viewBox", "0 0 " + coordinate(kWidth) + " " + coordinate(bottom + kScale)}});
  svg.element("title", {}, map.title);
  svg.element("desc", {},
              map.y_label + " by " + map.x_label + ", from " + format_number(scale.least, 3) + " to " +
                  format_number(scale.most, 3));
  svg.element("text", {{"class", "axis-title"}, {"x", 0.0}, {"y", kHead - 8}}, axes);
  const size_t stride = static_cast<size_t>(std::ceil(26 / width));  // column names that have room
  for (size_t column = 0; column < map.columns.size(); column += stride) {
    svg.element("text", {{"x", left + (column + 0.5) * width - 1}, {"y", head - 8}, {"text-anchor", "middle"}},
                fit_width(map.columns[column], std::max(static_cast<int>(stride * width / kLetter), 2)));
  }
  for (size_t row = 0; row < map.rows.size(); ++row) {
    const double top = head + row * row_height(map);
    svg.element("text",
                {{"x", left - 8}, {"y", top + row_height(map) / 2 - 1}, {"dy", "0.35em"}, {"text-anchor", "end"}},
                fit_width(map.rows[row], kMaxLetters));
    for (size_t column = 0; column < map.columns.size(); ++column) {
      draw_cell(svg, map, row, column, scale, left + column * width, top, width);
    }
  }
  draw_heat_scale(svg, scale, left + 40, bottom + 16);
  svg.close();
}

Table heat_table(const HeatMap& map) {
  Table table;
  table.columns = {{map.y_label}};
  for (const std::string& column : map.columns) table.columns.push_back({column, Alignment::right});
  for (size_t row = 0; row < map.rows.size(); ++row) {
    table.rows.push_back({map.rows[row]});
    for (size_t column = 0; column < map.columns.size(); ++column) {
      table.rows.back().push_back(heat_text(value_at(map, row, column)));
    }
  }
  return table;
}

}  // namespace

void draw(Markup& html, const HeatMap& map) {
  html.open("figure", {{"class", "chart"}}).element("figcaption", {}, map.title);
  if (map.rows.empty() || map.columns.empty()) {
    html.element("p", {{"class", "note"}}, "No values yet.");
  } else if (map.columns.size() > kMaxCells / map.rows.size()) {
    html.element("p", {{"class", "note"}}, "Too many cells to draw.");
  } else {
    draw_heat_svg(html, map);
    if (!map.note.empty()) html.element("p", {{"class", "note"}}, map.note);
    draw_details(html, "Numbers", heat_table(map));
  }
  html.close();
}

}  // namespace cachet::report
