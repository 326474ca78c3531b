#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/text/text_form.h"

namespace cachet::report {

/// Puts a text on one line. Line ends and tabs become blanks; other control characters are escaped (config::visible).
std::string on_one_line(std::string text);

/// The text of a cell, on one line.
struct GridCell {
  std::string text;
  bool wraps = false;  // whether it may be wrapped at words: true for heads and texts, false for numbers
};

/// The cells of a table for a terminal, with the column heads in the first line. A line has one cell per column.
struct TextGrid {
  std::vector<std::vector<GridCell>> lines;
  std::vector<Alignment> alignments;  // one for each column

  /// Returns the width of each column if no cell is wrapped.
  std::vector<int> natural_widths() const;
  /// Returns the width of each column such that the table is at most `columns` terminal columns wide. The widest
  /// columns are narrowed first. If the columns would become so narrow that names or column heads would be broken,
  /// returns std::nullopt.
  std::optional<std::vector<int>> widths_within(int columns) const;
};

/// Returns the columns `columns` of a table, with `*` after the best value of each column.
TextGrid grid_of(const Table& table, const std::vector<size_t>& columns, bool unicode);

/// Exchanges the rows and the columns of a table. All new columns except the first are aligned right, because a new
/// column has values of several kinds.
TextGrid turned(const TextGrid& grid);

/// Returns the width of all columns together, in terminal columns.
int width_of(const std::vector<int>& widths);

/// Returns the grid as text, with a rule below the head. Cells are wrapped to the width of their column.
std::string drawn(const TextGrid& grid, const std::vector<int>& widths, bool unicode);

}  // namespace cachet::report
