#pragma once

#include <string>

#include "cachet/report/content.h"
#include "cachet/report/text/text_form.h"

namespace cachet::report {

/// For a terminal: columns aligned by display width, a rule below the head, `*` after the best of a column. A table
/// wider than the form's columns is turned, a line for each of its columns, if that is narrower. Where the form is not
/// whole, heads and texts are wrapped at words instead if turning does not do, and what still has no room is left out,
/// the columns of least importance first, as a line below notes; only a first column that is too wide alone stays so.
std::string text_table(const Table& table, const TextForm& form = {});

/// GitHub's table syntax, the best of a column in bold; pipes and line breaks are escaped.
std::string markdown_table(const Table& table);

/// RFC 4180 with a header line: a cell's number where it has one (shortest form that reads back equal), else its text.
std::string csv_table(const Table& table);

}  // namespace cachet::report
