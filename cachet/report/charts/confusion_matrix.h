#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Returns classes with their recall and precision, weakest first, in at most `most` rows.
/// Empty if counts are not classes × classes.
Table class_table(const ConfusionMatrix& matrix, size_t most);

/// Draws an HTML figure: the matrix, shaded by the fraction of each true class, next to the table of classes.
void draw(Markup& html, const ConfusionMatrix& matrix);

}  // namespace cachet::report
