#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Returns a table of at most `most` classes with their recall and precision, the class of the lowest recall first. The
/// table has no rows if `counts` does not have classes × classes values.
Table class_table(const ConfusionMatrix& matrix, size_t most);

/// Draws an HTML figure: the matrix, shaded by the fraction of each true class, next to the table of classes.
void draw(Markup& html, const ConfusionMatrix& matrix);

}  // namespace cachet::report
