#include "cachet/report/text/text_grid.h"

#include <algorithm>

#include "cachet/config/utf8.h"
#include "cachet/report/table.h"
#include "cachet/report/text/ascii.h"
#include "cachet/report/text/display_width.h"
#include "cachet/report/text/wrapping.h"

namespace cachet::report {
namespace {

constexpr int kGap = 2;             // blanks between columns
constexpr int kNarrowestText = 20;  // a column of sentences has at least this width, though their words may be
constexpr int kWidestWord = 24;     // a longer word of a sentence may be broken, but of a name in the first column

std::string aligned(const std::string& text, int width, Alignment alignment) {
  const std::string blanks(std::max(width - display_width(text), 0), ' ');
  return alignment == Alignment::right ? blanks + text : text + blanks;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

int least_width(const GridCell& cell, size_t row, size_t column) {
  const int natural = display_width(cell.text);
  if (!cell.wraps) return natural;
  const int word = widest_word(cell.text);
  if (row == 0 || column == 0) return word;
  return std::min(natural, std::clamp(word, kNarrowestText, kWidestWord));
}

using Lines = std::vector<std::string>;

/// The cells of a line, each in its column. Heads stand on their rule, other cells hang from the line above.
std::string drawn_line(const std::vector<Lines>& cells, const TextGrid& grid, const std::vector<int>& widths,
                       bool is_head) {
  size_t height = 1;
  for (const Lines& cell : cells) height = std::max(height, cell.size());
  std::string text;
  for (size_t i = 0; i < height; ++i) {
    std::string line;
    for (size_t column = 0; column < cells.size(); ++column) {
      const size_t above = is_head ? height - cells[column].size() : 0;
      const bool has_text = i >= above && i - above < cells[column].size();
      line += std::string(column > 0 ? kGap : 0, ' ');
      line += aligned(has_text ? cells[column][i - above] : "", widths[column], grid.alignments[column]);
    }
    text += without_trailing_blanks(line) + "\n";
  }
  return text;
}

std::string rule_below(const std::vector<int>& widths, bool unicode) {
  std::string rule;
  for (size_t column = 0; column < widths.size(); ++column) {
    rule += std::string(column > 0 ? kGap : 0, ' ');
    for (int k = 0; k < widths[column]; ++k) rule += unicode ? "─" : "-";
  }
  return rule + "\n";
}

}  // namespace

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c >= '\t' && c <= '\r'; }, ' ');
  return config::visible(text);
}

std::vector<int> TextGrid::natural_widths() const {
  std::vector<int> widths(alignments.size(), 0);
  for (const auto& line : lines)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i].text));
  return widths;
}

std::optional<std::vector<int>> TextGrid::widths_within(int columns) const {
  std::vector<int> widths = natural_widths(), least(widths.size(), 0);
  for (size_t row = 0; row < lines.size(); ++row)
    for (size_t i = 0; i < widths.size(); ++i) least[i] = std::max(least[i], least_width(lines[row][i], row, i));
  if (width_of(least) > columns) return std::nullopt;
  for (int excess = width_of(widths) - columns; excess > 0; --excess) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] >= widths[widest])) widest = i;
    --widths[widest];
  }
  return widths;
}

TextGrid grid_of(const Table& table, const std::vector<size_t>& columns, bool unicode) {
  const TableMarks best(table);
  const auto shown = [unicode](const std::string& text) { return on_one_line(unicode ? text : ascii_text(text)); };
  TextGrid grid;
  grid.lines.emplace_back();
  for (const size_t column : columns) {
    grid.lines[0].push_back({shown(table.columns[column].name), /*wraps=*/true});
    grid.alignments.push_back(table.columns[column].alignment);
  }
  for (size_t row = 0; row < table.rows.size(); ++row) {
    grid.lines.emplace_back();
    for (const size_t column : columns) {
      std::string text = shown(cell_at(table, row, column).text);
      // Every cell of a column with a mark has room for it, so that its numbers stay aligned.
      if (best.in_column(column)) text += best.is_best(row, column) ? "*" : " ";
      grid.lines.back().push_back({std::move(text), table.columns[column].alignment == Alignment::left});
    }
  }
  return grid;
}

TextGrid turned(const TextGrid& grid) {
  TextGrid turned;
  turned.lines.resize(grid.alignments.size());
  for (const auto& line : grid.lines) {
    for (size_t i = 0; i < line.size(); ++i) turned.lines[i].push_back(line[i]);
    turned.alignments.push_back(turned.alignments.empty() ? Alignment::left : Alignment::right);
  }
  return turned;
}

int width_of(const std::vector<int>& widths) {
  int sum = 0;
  for (const int width : widths) sum += width + kGap;
  return sum - kGap;
}

std::string drawn(const TextGrid& grid, const std::vector<int>& widths, bool unicode) {
  std::string text;
  for (size_t row = 0; row < grid.lines.size(); ++row) {
    std::vector<Lines> cells;
    for (size_t column = 0; column < widths.size(); ++column) {
      const GridCell& cell = grid.lines[row][column];
      const bool is_wider = display_width(cell.text) > widths[column];
      cells.push_back(is_wider && cell.wraps ? wrapped_lines(cell.text, widths[column]) : Lines{cell.text});
    }
    text += drawn_line(cells, grid, widths, row == 0);
    if (row == 0) text += rule_below(widths, unicode);
  }
  return text;
}

}  // namespace cachet::report
