#include "cachet/report/text_table.h"

#include <algorithm>
#include <cmath>

#include "cachet/report/csv.h"
#include "cachet/report/table.h"
#include "cachet/report/utf8.h"

namespace cachet::report {
namespace {

using TextRow = std::vector<std::string>;

// A cell has one line here: what would break it becomes a blank.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

std::string markdown_text(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '|' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return on_one_line(escaped);
}

std::string aligned(const std::string& text, int width, Alignment alignment) {
  const std::string blanks(std::max(width - display_width(text), 0), ' ');
  return alignment == Alignment::right ? blanks + text : text + blanks;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

TextRow column_names(const Table& table) {
  TextRow names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

}  // namespace

std::string text_table(const Table& table) {
  const TableMarks best(table);
  std::vector<TextRow> lines(1);
  for (const std::string& name : column_names(table)) lines[0].push_back(on_one_line(name));
  for (size_t row = 0; row < table.rows.size(); ++row) {
    lines.emplace_back();
    for (size_t column = 0; column < table.columns.size(); ++column) {
      std::string text = on_one_line(cell_at(table, row, column).text);
      // Every cell of a column with a mark has room for it, so that its numbers stay aligned.
      if (best.in_column(column)) text += best.is_best(row, column) ? "*" : " ";
      lines.back().push_back(text);
    }
  }
  std::vector<int> widths(table.columns.size(), 0);
  for (size_t column = 0; column < widths.size(); ++column) {
    for (const TextRow& line : lines) widths[column] = std::max(widths[column], display_width(line[column]));
  }
  std::string text = table.title.empty() ? "" : on_one_line(table.title) + "\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string line, rule;
    for (size_t column = 0; column < widths.size(); ++column) {
      line += (column > 0 ? "  " : "") + aligned(lines[i][column], widths[column], table.columns[column].alignment);
      rule += column > 0 ? "  " : "";
      for (int k = 0; k < widths[column]; ++k) rule += "─";
    }
    text += without_trailing_blanks(line) + "\n";
    if (i == 0) text += rule + "\n";
  }
  return table.note.empty() ? text : text + on_one_line(table.note) + "\n";
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
