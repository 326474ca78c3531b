#pragma once

#include <string>

#include "cachet/report/content.h"
#include "cachet/report/text/text_form.h"

namespace cachet::report {

/// Returns a table for a terminal: columns aligned by display width, a rule below the head, `*` after the best cell of
/// a column. If the table is wider than form.columns, and would be narrower with rows and columns exchanged, they are
/// exchanged. If the table is still too wide and form.whole is not set, headings and texts are wrapped. If wrapping is
/// not enough, the least important columns are left out, with a note below the table. If form.whole is not set, the
/// result is wider than form.columns only if its first column alone is wider.
std::string text_table(const Table& table, const TextForm& form = {});

/// Returns a table in GitHub's Markdown, with the best cell of a column in bold. Pipe characters and line breaks in
/// cells are escaped.
std::string markdown_table(const Table& table);

/// Returns CSV (RFC 4180) with a header line. Each cell is written as its number, in the shortest exact form. A cell
/// without a number is written as its text.
std::string csv_table(const Table& table);

}  // namespace cachet::report
