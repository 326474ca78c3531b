#pragma once

#include <string>

#include "cachet/report/content.h"
#include "cachet/report/text/text_form.h"

namespace cachet::report {

/// Returns a table for a terminal: columns aligned by display width, a rule below the head, `*` after the best cell of
/// a column. If the table is too wide for the form and turning makes it narrower, each column becomes a line. If it is
/// still too wide and the form is not whole, heads and texts are wrapped instead. If that fails, columns are left out,
/// the least important first, with a note below. Only a table whose first column is too wide stays too wide.
std::string text_table(const Table& table, const TextForm& form = {});

/// Returns a table in GitHub's Markdown, with the best cell of a column in bold. Pipes and line breaks are escaped.
std::string markdown_table(const Table& table);

/// Returns CSV (RFC 4180) with a header line. A cell is written as its number (shortest exact form), or else its text.
std::string csv_table(const Table& table);

}  // namespace cachet::report
