#include "cachet/report/text_table.h"

#include <algorithm>
#include <cmath>

#include "cachet/report/csv.h"
#include "cachet/report/table.h"
#include "cachet/report/utf8.h"

namespace cachet::report {
namespace {

using TextRow = std::vector<std::string>;

constexpr int kGap = 2;  // blanks between columns

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

/// The texts of a table, its head first.
struct TextGrid {
  std::vector<TextRow> lines;
  std::vector<Alignment> alignments;  // of the columns

  std::vector<int> widths() const {
    std::vector<int> widths(alignments.size(), 0);
    for (const TextRow& line : lines)
      for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i]));
    return widths;
  }

  int width() const {
    int sum = 0;
    for (const int width : widths()) sum += width + kGap;
    return sum - kGap;
  }
};

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

TextRow column_names(const Table& table) {
  TextRow names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

TextGrid grid_of(const Table& table) {
  const TableMarks best(table);
  TextGrid grid;
  grid.lines.emplace_back();
  for (const Column& column : table.columns) {
    grid.lines[0].push_back(on_one_line(column.name));
    grid.alignments.push_back(column.alignment);
  }
  for (size_t row = 0; row < table.rows.size(); ++row) {
    grid.lines.emplace_back();
    for (size_t column = 0; column < table.columns.size(); ++column) {
      std::string text = on_one_line(cell_at(table, row, column).text);
      // Every cell of a column with a mark has room for it, so that its numbers stay aligned.
      if (best.in_column(column)) text += best.is_best(row, column) ? "*" : " ";
      grid.lines.back().push_back(text);
    }
  }
  return grid;
}

/// Lines become columns. What stands in one column then is of many kinds, so only its place is common: the right.
TextGrid turned_grid(const TextGrid& grid) {
  TextGrid turned;
  turned.lines.resize(grid.alignments.size());
  for (const TextRow& line : grid.lines) {
    for (size_t i = 0; i < line.size(); ++i) turned.lines[i].push_back(line[i]);
    turned.alignments.push_back(turned.alignments.empty() ? Alignment::left : Alignment::right);
  }
  return turned;
}

std::string drawn(const TextGrid& grid) {
  const std::vector<int> widths = grid.widths();
  std::string text;
  for (size_t i = 0; i < grid.lines.size(); ++i) {
    std::string line, rule;
    for (size_t column = 0; column < widths.size(); ++column) {
      const std::string gap(column > 0 ? kGap : 0, ' ');
      line += gap + aligned(grid.lines[i][column], widths[column], grid.alignments[column]);
      rule += gap;
      for (int k = 0; k < widths[column]; ++k) rule += "─";
    }
    text += without_trailing_blanks(line) + "\n";
    if (i == 0) text += rule + "\n";
  }
  return text;
}

}  // namespace

std::string text_table(const Table& table, int columns) {
  const TextGrid upright = grid_of(table);
  const TextGrid turned = turned_grid(upright);
  const bool turn = upright.width() > columns && turned.width() < upright.width();
  std::string text = table.title.empty() ? "" : on_one_line(table.title) + "\n";
  text += drawn(turn ? turned : upright);
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
