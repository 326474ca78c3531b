#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/text/text_form.h"

namespace cachet::report {

/// A cell has one line: line ends and tabs become blanks, other control characters escapes (config::visible).
std::string on_one_line(std::string text);

/// A text of a grid, on one line.
struct GridCell {
  std::string text;
  bool wraps = false;  // may be broken at its words: a head or a text, not a number
};

/// The texts of a table for a terminal, its head first. Every line has a cell for each column.
struct TextGrid {
  std::vector<std::vector<GridCell>> lines;
  std::vector<Alignment> alignments;  // of the columns

  /// Of each column with no cell wrapped.
  std::vector<int> natural_widths() const;
  /// Of each column where the whole is at most so wide: the widest is narrowed first. Nothing where names and heads
  /// would break.
  std::optional<std::vector<int>> widths_within(int columns) const;
};

/// These columns of a table, with `*` after the best of each.
TextGrid grid_of(const Table& table, const std::vector<size_t>& columns, bool unicode);

/// Lines become columns. A column then has values of many kinds, so all are aligned to the right.
TextGrid turned(const TextGrid& grid);

/// All columns side by side.
int width_of(const std::vector<int>& widths);

/// A rule below the head; cells wider than their column are wrapped.
std::string drawn(const TextGrid& grid, const std::vector<int>& widths, bool unicode);

}  // namespace cachet::report
