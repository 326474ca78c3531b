#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Draws an HTML figure: one legend and a grid of small plots.
void draw(Markup& html, const SmallMultiples& multiples);

}  // namespace cachet::report
