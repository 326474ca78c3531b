#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Returns the cell in a row and a column, or an empty cell if the row is too short.
const Cell& cell_at(const Table& table, size_t row, size_t column);

/// Finds the cells to mark as the best of their column: the cells with the best finite value, and the cells that show
/// the same digits for the value, even if their standard errors differ. A column has no marks if all of its values are
/// equal, or if all of its cells show the same digits.
class TableMarks {
 public:
  explicit TableMarks(const Table& table);
  bool in_column(size_t column) const { return best_[column].has_value(); }
  bool is_best(size_t row, size_t column) const;

 private:
  bool is_ranked(size_t row, size_t column) const;

  const Table& table_;
  std::vector<std::optional<std::string_view>> best_;  // the best number as the table shows it
};

/// Draws the table as an HTML figure.
void draw(Markup& html, const Table& table);

/// Draws the table without the HTML figure around it.
void draw_rows(Markup& html, const Table& table);

/// Draws a table that opens on demand: the data of a drawing, for readers who cannot see the drawing.
void draw_details(Markup& html, std::string_view summary, const Table& table);

}  // namespace cachet::report
