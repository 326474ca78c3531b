#pragma once

#include "cachet/report/charts/plot.h"
#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// An HTML figure: switches for the series, the plot, its numbers as JSON for the script and as a table for readers.
void draw(Markup& html, const LineChart& chart);

/// Small figures that open on demand.
void draw(Markup& html, const ChartFold& fold);

/// Whether no series has more than one point, and all are finite: such a chart is shown as numbers.
bool has_one_point(const LineChart& chart);

/// The value of each series, with its x value.
void draw_numbers(Markup& html, const LineChart& chart);

/// A switch for each series, in its colour. Nothing for a single one.
void draw_legend(Markup& html, const std::vector<Series>& series);

/// The plot with its JSON, and the hidden plot on the other scale if that is useful. `y` overrides
/// the vertical axis. Returns whether there is another scale.
bool draw_plot_box(Markup& html, const LineChart& chart, const PlotSize& size, const Axis* y = nullptr);

/// "2 values are not finite (×)", or nothing.
std::string missing_note(const std::vector<Series>& series);

}  // namespace cachet::report
