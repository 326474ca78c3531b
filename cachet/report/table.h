#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// The cell, or an empty one where the row is too short.
const Cell& cell_at(const Table& table, size_t row, size_t column);

/// Which cells hold the best finite value of their column, or a value whose number is shown by the same digits,
/// whatever its error is. A column is marked if at least two of its values, and two of the numbers that are shown,
/// differ.
class TableMarks {
 public:
  explicit TableMarks(const Table& table);
  bool in_column(size_t column) const { return best_[column].has_value(); }
  bool is_best(size_t row, size_t column) const;

 private:
  bool is_ranked(size_t row, size_t column) const;

  const Table& table_;
  std::vector<std::optional<std::string_view>> best_;  // as the table shows it
};

/// An HTML figure with the table.
void draw(Markup& html, const Table& table);

/// The table alone.
void draw_rows(Markup& html, const Table& table);

/// A table that opens on demand: what a drawing shows, for those who cannot see it.
void draw_details(Markup& html, std::string_view summary, const Table& table);

}  // namespace cachet::report
