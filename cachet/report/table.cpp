#include "cachet/report/table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace cachet::report {

const Cell& cell_at(const Table& table, size_t row, size_t column) {
  static const Cell empty;
  const std::vector<Cell>& cells = table.rows[row];
  return column < cells.size() ? cells[column] : empty;
}

namespace {

/// The number that a cell shows, without its error or interval (report/uncertainty.h).
std::string_view shown_number(const Cell& cell) {
  return std::string_view(cell.text).substr(0, std::min(cell.text.find(" ±"), cell.text.find(" (")));
}

}  // namespace

TableMarks::TableMarks(const Table& table) : table_(table), best_(table.columns.size()) {
  for (size_t column = 0; column < best_.size(); ++column) {
    const Better better = table.columns[column].better;
    if (better == Better::neither) continue;
    std::optional<double> best;
    std::set<double> values;
    std::set<std::string_view> shown;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      if (!is_ranked(row, column)) continue;
      const Cell& cell = cell_at(table, row, column);
      values.insert(cell.value);
      shown.insert(shown_number(cell));
      if (best && (better == Better::higher ? cell.value <= *best : cell.value >= *best)) continue;
      best = cell.value;
      best_[column] = shown_number(cell);
    }
    if (values.size() < 2 || shown.size() < 2) best_[column].reset();
  }
}

bool TableMarks::is_ranked(size_t row, size_t column) const {
  return std::isfinite(cell_at(table_, row, column).value) && !table_.unranked.contains(row);
}

bool TableMarks::is_best(size_t row, size_t column) const {
  return best_[column] && is_ranked(row, column) && shown_number(cell_at(table_, row, column)) == *best_[column];
}

namespace {

// A table of few rows and more columns than a page has room for is turned: each column becomes a row.
constexpr size_t kMaxUprightColumns = 8;

bool is_turned(const Table& table) {
  return table.columns.size() > kMaxUprightColumns && table.rows.size() < kMaxUprightColumns;
}

constexpr size_t kLongNumber = 24, kLongName = 20;

// In a narrow window each row is a list of its cells, so that no column is cut.
bool is_stacked(const Table& table) { return table.columns.size() > 2; }

class RowsDrawing {
 public:
  RowsDrawing(Markup& html, const Table& table) : html_(html), table_(table), best_(table) {}

  void upright() {
    html_.open("thead").open("tr");
    for (size_t column = 0; column < table_.columns.size(); ++column)
      head("col", side(column), table_.columns[column].name);
    html_.close().close().open("tbody");
    for (size_t row = 0; row < table_.rows.size(); ++row) {
      html_.open("tr");
      for (size_t column = 0; column < table_.columns.size(); ++column)
        cell(row, column, side(column), "column", names_its_row(column) ? "" : table_.columns[column].name);
      html_.close();
    }
    html_.close();
  }

  void turned() {
    html_.open("thead").open("tr");
    head("col", "text", table_.columns[0].name);
    for (size_t row = 0; row < table_.rows.size(); ++row) head("col", "number", cell_at(table_, row, 0).text);
    html_.close().close().open("tbody");
    for (size_t column = 1; column < table_.columns.size(); ++column) {
      html_.open("tr");
      head("row", "text", table_.columns[column].name);
      for (size_t row = 0; row < table_.rows.size(); ++row)
        cell(row, column, "number", "row", cell_at(table_, row, 0).text);
      html_.close();
    }
    html_.close();
  }

 private:
  const char* side(size_t column) const {
    return table_.columns[column].alignment == Alignment::right ? "number" : "text";
  }

  /// Such a cell is the heading of its row in a narrow window. A number is not.
  bool names_its_row(size_t column) const { return column == 0 && table_.columns[column].alignment == Alignment::left; }

  void head(const char* scope, const char* side, const std::string& text) {
    html_.element("th", {{"scope", scope}, {"class", side}}, text);
  }

  // `label` is what a narrow window shows in front of the cell, where the head is left out.
  void cell(size_t row, size_t column, const std::string& side, const std::string& best_of, const std::string& label) {
    const std::string& text = cell_at(table_, row, column).text;
    const bool is_long = text.size() > kLongNumber;  // and may be broken
    const std::string classes = side == "number" && is_long ? side + " long" : side;
    if (is_stacked(table_) && !label.empty())
      html_.open("td", {{"class", classes}, {"data-label", label}});
    else
      html_.open("td", {{"class", classes}});
    if (best_.is_best(row, column)) {
      html_.element("strong", {{"title", "best of this " + best_of}}, text);
    } else if (column == 0 && text.size() > kLongName) {
      html_.breakable(text);
    } else {
      html_.text(text);
    }
    html_.close();
  }

  Markup& html_;
  const Table& table_;
  TableMarks best_;
};

}  // namespace

void draw_rows(Markup& html, const Table& table) {
  html.open("div", {{"class", "scroll"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-label", table.title.empty() ? "Table" : table.title}});
  html.open("table", {{"class", is_stacked(table) ? "stacked" : "plain"}});
  RowsDrawing drawing(html, table);
  is_turned(table) ? drawing.turned() : drawing.upright();
  html.close().close();
}

void draw(Markup& html, const Table& table) {
  html.open("figure", {{"class", table.columns.size() > 2 ? "table wide" : "table"}});
  if (!table.title.empty()) html.element("figcaption", {}, table.title);
  draw_rows(html, table);
  if (!table.note.empty()) html.paragraph("note", table.note);
  html.close();
}

void draw_details(Markup& html, std::string_view summary, const Table& table) {
  html.open("details").element("summary", {}, summary);
  draw_rows(html, table);
  html.close();
}

}  // namespace cachet::report
