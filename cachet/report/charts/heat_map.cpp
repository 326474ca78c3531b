#include "cachet/report/charts/heat_map.h"

#include <algorithm>
#include <cmath>

#include "cachet/report/charts/map_names.h"
#include "cachet/report/format.h"
#include "cachet/report/table.h"
#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

constexpr size_t kMaxCells = 20'000;
constexpr double kFaintest = 0.06;        // the least value is still a cell
constexpr double kDarkBackground = 0.68;  // from this opacity on, text is drawn in the light colour
constexpr double kRowHeight = 28, kLowRowHeight = 15, kHead = 22, kAxesLine = 18, kScale = 40, kWidth = 560;
constexpr size_t kWideColumns = 32;      // a square map of more is wider than half the page
constexpr double kMostWideHeight = 640;  // of such a map, in pixels, so that it fits a screen
constexpr double kMostSquare = 64, kLeastTextCell = 40;
constexpr double kMargin = 12;
constexpr double kScaleLeft = 84, kScaleWidth = 160;
constexpr int kFewestDigits = 3, kMostDigits = 6;  // of the values that a scale names
constexpr int kMaxLetters = 32;                    // so that the names of deep layers differ
constexpr size_t kMaxTableColumns = 8;             // of the numbers; the rows of a wider map are lines of text

struct HeatScale {
  double least = INFINITY, most = -INFINITY;
  int digits = kFewestDigits;  // with which the ends differ
  bool is_empty() const { return least > most; }
  /// Whether the ends do not differ by more than rounding.
  bool is_one_value() const { return text(least) == text(most); }
  double fraction(double value) const {
    return is_one_value() ? 0.5 : std::clamp((value - least) / (most - least), 0.0, 1.0);
  }
  std::string text(double value) const { return std::isfinite(value) ? format_number(value, digits) : "no value"; }
};

/// Whether a value lies on the scale. If the map names an end of the scale, values beyond this end have no colour.
bool has_colour(const HeatMap& map, double value) {
  return std::isfinite(value) && !(map.least && value < *map.least) && !(map.most && value > *map.most);
}

HeatScale scale_of(const HeatMap& map) {
  HeatScale scale;
  for (const double value : map.values) {
    if (!has_colour(map, value)) continue;
    scale.least = std::min(scale.least, value);
    scale.most = std::max(scale.most, value);
  }
  if (scale.is_empty()) return scale;
  scale.least = map.least.value_or(scale.least);
  scale.most = std::max(map.most.value_or(scale.most), scale.least);
  while (scale.digits < kMostDigits && scale.is_one_value()) ++scale.digits;
  if (scale.is_one_value()) scale.digits = kFewestDigits;
  return scale;
}

double value_at(const HeatMap& map, size_t row, size_t column) {
  const size_t index = row * map.columns.size() + column;
  return index < map.values.size() ? map.values[index] : std::numeric_limits<double>::quiet_NaN();
}

void draw_heat_scale(Markup& svg, const HeatScale& scale, double left, double top) {
  if (scale.is_empty()) return;
  constexpr int all_steps = 24;
  const int steps = scale.is_one_value() ? 1 : all_steps;
  const double width = scale.is_one_value() ? kScaleWidth / all_steps : kScaleWidth;
  for (int i = 0; i < steps; ++i) {
    const double fraction = (i + 0.5) / steps;
    svg.empty("rect", {{"class", "heat"},
                       {"x", left + i * width / steps},
                       {"y", top},
                       {"width", width / steps + 0.2},
                       {"height", 8.0},
                       {"fill-opacity", kFaintest + (1 - kFaintest) * fraction}});
  }
  if (!scale.is_one_value())
    svg.element("text", {{"x", left - 6}, {"y", top + 8}, {"text-anchor", "end"}}, scale.text(scale.least));
  svg.element("text", {{"x", left + width + 6}, {"y", top + 8}}, scale.text(scale.most));
}

bool is_wide(const HeatMap& map) { return map.square && map.columns.size() > kWideColumns; }

// Where the parts of a map lie. Rows are low in a map of many, so that it fits a screen.
struct HeatLayout {
  double left = 0, head = kHead, width = 0, height = 0;  // of the names, and of a cell
  size_t stride = 1;                                     // of the columns that are named
  bool leans = false;                                    // whether their names do
  double all = kWidth, bottom = 0;                       // of the drawing
  double scale_left = kScaleLeft;
};

HeatLayout layout_of(const HeatMap& map, const HeatScale& scale, const std::string& axes) {
  HeatLayout layout;
  int letters = display_width(map.y_label);
  for (const std::string& row : map.rows) letters = std::max(letters, display_width(row));
  layout.left = std::max(std::min(letters, kMaxLetters) * kMapLetter + kMargin, 40.0);
  int longest = 1;
  for (const std::string& column : map.columns) longest = std::max(longest, display_width(column));
  longest = std::min(longest, kMaxLetters);
  const auto columns = static_cast<double>(map.columns.size());
  double right = 0;  // of the last leaning name
  const auto cell_width = [&] {
    const double width = (kWidth - layout.left - right) / columns;
    return map.square ? std::min(width, kMostSquare) : width;
  };
  layout.width = cell_width();
  // Numbers are left out where they have no room; names lean.
  const bool numbers = std::ranges::all_of(
      map.columns, [](const std::string& name) { return name.find_first_not_of("0123456789") == std::string::npos; });
  constexpr double kNameGap = 6;
  layout.leans = !numbers && longest * kMapLetter + kNameGap > layout.width;
  if (layout.leans) {
    for (int i = 0; i < 2; ++i) {
      right = std::max(longest * kMapLetter * kMapNameCosine - layout.width / 2, 0.0);
      layout.width = cell_width();
    }
    layout.head = longest * kMapLetter * kMapNameSine + 14;
  }
  layout.height = map.square ? layout.width : map.rows.size() > 28 ? kLowRowHeight : kRowHeight;
  const double needed = layout.leans ? 15 : longest * kMapLetter + kNameGap;
  layout.stride = std::max<size_t>(1, static_cast<size_t>(std::ceil(needed / layout.width)));
  // The axes are named above the names of the columns where they are too long to stand before them.
  if (layout.leans || display_width(axes) * kMapLetter > layout.left) layout.head += kAxesLine;
  layout.scale_left = std::max(kScaleLeft, display_width(scale.text(scale.least)) * kMapLetter + 6);
  layout.all = std::max({layout.left + columns * layout.width + right, display_width(axes) * kMapLetter,
                         2 * layout.scale_left + kScaleWidth});
  layout.bottom = layout.head + layout.height * static_cast<double>(map.rows.size());
  return layout;
}

void draw_cell(Markup& svg, const HeatMap& map, size_t row, size_t column, const HeatScale& scale,
               const HeatLayout& layout) {
  const double value = value_at(map, row, column);
  const bool finite = std::isfinite(value);
  const bool coloured = has_colour(map, value);
  const double opacity = coloured ? kFaintest + (1 - kFaintest) * scale.fraction(value) : 0;
  const double x = layout.left + static_cast<double>(column) * layout.width,
               y = layout.head + static_cast<double>(row) * layout.height;
  const double gap = std::min({2.0, layout.width / 8, layout.height / 8});
  svg.open("rect", {{"class", coloured ? "heat"
                              : finite ? "heat outside"
                                       : "heat absent"},
                    {"x", x},
                    {"y", y},
                    {"width", layout.width - gap},
                    {"height", layout.height - gap},
                    {"rx", gap},
                    {"fill-opacity", opacity}});
  svg.element("title", {}, map.rows[row] + ", " + map.columns[column] + ": " + scale.text(value)).close();
  if (layout.width < kLeastTextCell) return;
  svg.element("text",
              {{"class", opacity > kDarkBackground ? "in-cell on-heat" : "in-cell"},
               {"x", x + layout.width / 2 - gap / 2},
               {"y", y + layout.height / 2 - gap / 2},
               {"dy", "0.35em"},
               {"text-anchor", "middle"}},
              finite ? format_fixed(value, 2) : "–");
}

void draw_column_names(Markup& svg, const HeatMap& map, const HeatLayout& layout) {
  for (size_t column = 0; column < map.columns.size(); column += layout.stride) {
    const double middle = layout.left + (static_cast<double>(column) + 0.5) * layout.width - 1;
    const std::string name = fit_width(map.columns[column], kMaxLetters);
    if (layout.leans)
      svg.element(
          "text",
          {{"transform", "translate(" + coordinate(middle + 3) + " " + coordinate(layout.head - 6) + ") rotate(-42)"}},
          name);
    else
      svg.element("text", {{"x", middle}, {"y", layout.head - 8}, {"text-anchor", "middle"}}, name);
  }
}

void draw_heat_svg(Markup& svg, const HeatMap& map) {
  const std::string axes = map.y_label + " \\ " + map.x_label;
  const HeatScale scale = scale_of(map);
  const HeatLayout layout = layout_of(map, scale, axes);
  const double enlarged = is_wide(map) ? std::clamp(kMostWideHeight / (layout.bottom + kScale), 1.0, 1.6) : 1.1;
  svg.open("svg", {{"class", "plot heat-map"},
                   {"xmlns", "http://www.w3.org/2000/svg"},
                   {"role", "img"},
                   {"style", "max-width:" + coordinate(layout.all * enlarged) + "px"},
                   {"viewBox", "0 0 " + coordinate(layout.all) + " " + coordinate(layout.bottom + kScale)}});
  svg.element("title", {}, map.title);
  svg.element("desc", {},
              map.y_label + " by " + map.x_label +
                  (scale.is_empty() ? "" : ", from " + scale.text(scale.least) + " to " + scale.text(scale.most)));
  svg.element("text", {{"class", "axis-title"}, {"x", 0.0}, {"y", kHead - 8}}, axes);
  draw_column_names(svg, map, layout);
  for (size_t row = 0; row < map.rows.size(); ++row) {
    const double middle = layout.head + (static_cast<double>(row) + 0.5) * layout.height - 1;
    const auto named = static_cast<size_t>(std::ceil(15 / layout.height));
    if (row % named == 0)
      svg.element("text", {{"x", layout.left - 8}, {"y", middle}, {"dy", "0.35em"}, {"text-anchor", "end"}},
                  fit_width(map.rows[row], kMaxLetters));
    for (size_t column = 0; column < map.columns.size(); ++column) draw_cell(svg, map, row, column, scale, layout);
  }
  draw_heat_scale(svg, scale, layout.scale_left, layout.bottom + 16);
  svg.close();
}

Table heat_table(const HeatMap& map) {
  const HeatScale scale = scale_of(map);
  Table table;
  table.columns = {{map.y_label}};
  if (map.columns.size() > kMaxTableColumns) {
    table.columns.push_back({map.x_label + ", from " + map.columns.front() + " to " + map.columns.back()});
    for (size_t row = 0; row < map.rows.size(); ++row) {
      std::string values;
      for (size_t column = 0; column < map.columns.size(); ++column)
        values += (column > 0 ? "  " : "") + scale.text(value_at(map, row, column));
      table.rows.push_back({map.rows[row], values});
    }
    return table;
  }
  for (const std::string& column : map.columns) table.columns.push_back({column, Alignment::right});
  for (size_t row = 0; row < map.rows.size(); ++row) {
    table.rows.push_back({map.rows[row]});
    for (size_t column = 0; column < map.columns.size(); ++column) {
      table.rows.back().push_back(scale.text(value_at(map, row, column)));
    }
  }
  return table;
}

}  // namespace

void draw(Markup& html, const HeatMap& map) {
  html.open("figure", {{"class", is_wide(map) ? "chart wide" : "chart"}}).element("figcaption", {}, map.title);
  if (map.rows.empty() || map.columns.empty()) {
    html.paragraph("note", "No values yet.");
  } else if (map.columns.size() > kMaxCells / map.rows.size()) {
    html.paragraph("note", "Too many cells to draw.");
  } else {
    draw_heat_svg(html, map);
    if (!map.note.empty()) html.paragraph("note", map.note);
    draw_details(html, "Numbers", heat_table(map));
  }
  html.close();
}

}  // namespace cachet::report
