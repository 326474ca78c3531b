#include "cachet/report/text/text_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cachet/report/csv.h"
#include "cachet/report/table.h"
#include "cachet/report/text/text_grid.h"

namespace cachet::report {
namespace {

using TextRow = std::vector<std::string>;

std::string markdown_text(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '|' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return on_one_line(escaped);
}

TextRow column_names(const Table& table) {
  TextRow names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

/// A way to draw a table, and the columns that have no room in it.
struct Layout {
  TextGrid grid;
  std::vector<int> widths;
  std::vector<size_t> left_out{};
};

std::vector<size_t> all_columns(const Table& table) {
  std::vector<size_t> columns(table.columns.size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

/// The position in `columns` of the one that matters least; the first stays.
size_t least_important(const Table& table, const std::vector<size_t>& columns) {
  size_t least = columns.size() - 1;
  for (size_t i = columns.size() - 1; i > 0; --i)
    if (table.columns[columns[i]].importance < table.columns[columns[least]].importance) least = i;
  return least;
}

Layout with_columns_left_out(const Table& table, const TextForm& form) {
  std::vector<size_t> columns = all_columns(table), left_out;
  while (true) {
    TextGrid grid = grid_of(table, columns, form.unicode);
    if (auto widths = grid.widths_within(form.columns)) return {std::move(grid), std::move(*widths), left_out};
    if (columns.size() <= 1) {
      std::vector<int> widths = grid.natural_widths();
      return {std::move(grid), std::move(widths), left_out};
    }
    const auto least = columns.begin() + static_cast<std::ptrdiff_t>(least_important(table, columns));
    left_out.insert(std::ranges::lower_bound(left_out, *least), *least);
    columns.erase(least);
  }
}

Layout layout_of(const Table& table, const TextForm& form) {
  const TextGrid upright = grid_of(table, all_columns(table), form.unicode), on_its_side = turned(upright);
  const std::vector<int> widths = upright.natural_widths(), turned_widths = on_its_side.natural_widths();
  const bool is_narrower = width_of(turned_widths) < width_of(widths);
  if (width_of(widths) <= form.columns || (form.whole && !is_narrower)) return {upright, widths};
  if (form.whole || (is_narrower && width_of(turned_widths) <= form.columns)) return {on_its_side, turned_widths};
  if (const auto wrapped = upright.widths_within(form.columns)) return {upright, *wrapped};
  if (is_narrower)
    if (const auto wrapped = on_its_side.widths_within(form.columns)) return {on_its_side, *wrapped};
  return with_columns_left_out(table, form);
}

std::string left_out_sentence(const Table& table, const Layout& layout, const TextForm& form) {
  std::string names;
  for (const size_t column : layout.left_out) names += (names.empty() ? "" : ", ") + table.columns[column].name;
  return "There is no room here for: " + names + (form.whole_by.empty() ? "" : "; " + form.whole_by + " shows all");
}

}  // namespace

std::string text_table(const Table& table, const TextForm& form) {
  const Layout layout = layout_of(table, form);
  std::string text = table.title.empty() ? "" : text_paragraph(on_one_line(table.title), form);
  text += drawn(layout.grid, layout.widths, form.unicode);
  if (!layout.left_out.empty()) text += text_paragraph(on_one_line(left_out_sentence(table, layout, form)), form);
  return table.note.empty() ? text : text + text_paragraph(on_one_line(table.note), form);
}

std::string markdown_table(const Table& table) {
  const TableMarks best(table);
  std::string head = "|", rule = "|", body;
  for (const Column& column : table.columns) {
    head += " " + markdown_text(column.name) + " |";
    rule += column.alignment == Alignment::right ? " ---: |" : " --- |";
  }
  for (size_t row = 0; row < table.rows.size(); ++row) {
    body += "|";
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const std::string text = markdown_text(cell_at(table, row, column).text);
      body += best.is_best(row, column) ? " **" + text + "** |" : " " + text + " |";
    }
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string csv_table(const Table& table) {
  std::string text = csv_line(column_names(table));
  for (size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> fields;
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const Cell& cell = cell_at(table, row, column);
      fields.push_back(std::isnan(cell.value) ? cell.text : csv_number(cell.value));
    }
    text += csv_line(fields);
  }
  return text;
}

}  // namespace cachet::report
