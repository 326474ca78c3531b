#include "cachet/report/table.h"

#include <algorithm>
#include <cmath>

namespace cachet::report {

const Cell& cell_at(const Table& table, size_t row, size_t column) {
  static const Cell empty;
  const std::vector<Cell>& cells = table.rows[row];
  return column < cells.size() ? cells[column] : empty;
}

TableMarks::TableMarks(const Table& table) : table_(table), best_(table.columns.size()) {
  for (size_t column = 0; column < best_.size(); ++column) {
    const Better better = table.columns[column].better;
    if (better == Better::neither) continue;
    std::optional<double> least, most;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const double value = cell_at(table, row, column).value;
      if (!std::isfinite(value)) continue;
      least = std::min(least.value_or(value), value);
      most = std::max(most.value_or(value), value);
    }
    if (least && *least < *most) best_[column] = better == Better::higher ? most : least;
  }
}

bool TableMarks::is_best(size_t row, size_t column) const {
  return best_[column] && cell_at(table_, row, column).value == *best_[column];
}

void draw_rows(Markup& html, const Table& table) {
  const TableMarks best(table);
  const auto side = [&](size_t column) {
    return table.columns[column].alignment == Alignment::right ? "number" : "text";
  };
  html.open("div", {{"class", "scroll"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-label", table.title.empty() ? "Table" : table.title}});
  html.open("table").open("thead").open("tr");
  for (size_t column = 0; column < table.columns.size(); ++column) {
    html.element("th", {{"scope", "col"}, {"class", side(column)}}, table.columns[column].name);
  }
  html.close().close().open("tbody");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    html.open("tr");
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const std::string& text = cell_at(table, row, column).text;
      html.open("td", {{"class", side(column)}});
      if (best.is_best(row, column)) {
        html.element("strong", {{"title", "best of this column"}}, text);
      } else {
        html.text(text);
      }
      html.close();
    }
    html.close();
  }
  html.close().close().close();
}

void draw(Markup& html, const Table& table) {
  html.open("figure", {{"class", table.columns.size() > 2 ? "table wide" : "table"}});
  if (!table.title.empty()) html.element("figcaption", {}, table.title);
  draw_rows(html, table);
  if (!table.note.empty()) html.element("p", {{"class", "note"}}, table.note);
  html.close();
}

void draw_details(Markup& html, std::string_view summary, const Table& table) {
  html.open("details").element("summary", {}, summary);
  draw_rows(html, table);
  html.close();
}

}  // namespace cachet::report
