#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Draws an HTML figure: a grid of cells whose opacity is the position of the value on the scale, the scale, and the
/// values as a table.
void draw(Markup& html, const HeatMap& map);

}  // namespace cachet::report
