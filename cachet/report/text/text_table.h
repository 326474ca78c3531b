#pragma once

#include <string>

#include "cachet/report/content.h"
#include "cachet/report/text/text_form.h"

namespace cachet::report {

/// Returns a table for a terminal: columns aligned by display width, a rule below the head, `*` after the best of a
/// column. If the table is wider than the form's columns and turning makes it narrower, each column becomes a line. If
/// it is still too wide and the form is not whole, heads and texts are wrapped at words instead. Then columns are left
/// out, the least important first, and a line below notes this. Only a first column that is too wide alone stays so.
std::string text_table(const Table& table, const TextForm& form = {});

/// Returns a table in GitHub's syntax, the best of a column in bold. Pipes and line breaks are escaped.
std::string markdown_table(const Table& table);

/// Returns RFC 4180 with a header line. A cell is its number if it has one (shortest exact form), else its text.
std::string csv_table(const Table& table);

}  // namespace cachet::report
