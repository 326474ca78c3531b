#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Returns a table of at most `most` classes with their recall and precision, in ascending order of recall. If `counts`
/// does not have classes × classes values, the table has no rows.
Table class_table(const ConfusionMatrix& matrix, size_t most);

/// Draws an HTML figure with the confusion matrix and, next to it, the table of classes. The shade of a cell shows
/// which fraction of the samples of the cell's true class is in the cell.
void draw(Markup& html, const ConfusionMatrix& matrix);

}  // namespace cachet::report
