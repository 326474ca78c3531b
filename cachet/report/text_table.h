#pragma once

#include <string>

#include "cachet/report/content.h"

namespace cachet::report {

/// For a terminal: columns aligned by display width, a rule below the head, `*` behind the best of a column. A table
/// wider than `columns` is turned, a line for each of its columns, if that is narrower.
std::string text_table(const Table& table, int columns = 100);

/// GitHub's table syntax, the best of a column in bold; pipes and line breaks are escaped.
std::string markdown_table(const Table& table);

/// RFC 4180 with a header line: a cell's number where it has one (shortest form that reads back equal), else its text.
std::string csv_table(const Table& table);

}  // namespace cachet::report
