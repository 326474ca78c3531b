#include "cachet/report/text/fitted_line.h"

#include <algorithm>
#include <cstdint>

#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

std::string line_of(const std::vector<LineField>& fields, const std::vector<bool>& shown) {
  std::string line;
  bool first_half = false, second_half = false, before = false;
  for (size_t i = 0; i < fields.size(); ++i) {
    const LineField& field = fields[i];
    const bool is_shown = shown[i] && !(field.joined && !before);
    before = is_shown;
    if (!is_shown || field.text.empty()) continue;
    if (!line.empty()) line += field.joined ? " " : field.behind && first_half && !second_half ? "  |  " : "  ";
    line += field.text;
    (field.behind ? second_half : first_half) = true;
  }
  return line;
}

}  // namespace

std::string fitted_line(const std::vector<LineField>& fields, int columns) {
  std::vector<bool> shown(fields.size(), true);
  std::vector<size_t> order(fields.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return fields[i].importance; });
  std::string line = line_of(fields, shown);
  for (size_t i = 0; i + 1 < order.size() && columns >= 0 && display_width(line) > columns; ++i) {
    shown[order[i]] = false;
    line = line_of(fields, shown);
  }
  return line;
}

}  // namespace cachet::report
