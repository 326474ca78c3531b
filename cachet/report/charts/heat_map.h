#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Draws an HTML figure with a grid of cells, the colour scale, and the values as a table. The higher the value of a
/// cell on the scale, the more opaque the cell is.
void draw(Markup& html, const HeatMap& map);

}  // namespace cachet::report
