#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// An HTML figure: a grid of cells whose opacity is the value's position on the scale, the scale, and the values as a
/// table.
void draw(Markup& html, const HeatMap& map);

}  // namespace cachet::report
