#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Classes with what was found of them and how often they were right when named, weakest first; `most` rows at most.
/// Empty where counts are not classes × classes.
Table class_table(const ConfusionMatrix& matrix, size_t most);

/// An HTML figure: the matrix, shaded by the share of each true class, and the table of classes beside it.
void draw(Markup& html, const ConfusionMatrix& matrix);

}  // namespace cachet::report
