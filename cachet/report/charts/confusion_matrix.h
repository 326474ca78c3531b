#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Returns a table of at most `most` classes with their recall and precision, in ascending order of recall. The table
/// has no rows unless `counts` has classes × classes values.
Table class_table(const ConfusionMatrix& matrix, size_t most);

/// Draws an HTML figure: the matrix, shaded by the fraction of each true class, next to the table of classes.
void draw(Markup& html, const ConfusionMatrix& matrix);

}  // namespace cachet::report
