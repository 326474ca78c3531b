#pragma once

#include "cachet/report/charts/plot.h"
#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Draws an HTML figure: switches for the series, the plot, its numbers as JSON (for the script) and as a table.
void draw(Markup& html, const LineChart& chart);

/// Draws small charts that are hidden until a reader opens them.
void draw(Markup& html, const ChartFold& fold);

/// Whether each series has at most one point and all points are finite. If a chart has only single points, their
/// numbers are shown as text.
bool has_one_point(const LineChart& chart);

/// Writes the y value and the x value of each series as text.
void draw_numbers(Markup& html, const LineChart& chart);

/// Draws a switch for each series, in its colour. Draws nothing if there is only one series.
void draw_legend(Markup& html, const std::vector<Series>& series);

/// Draws the plot and writes its data as JSON. If the data suit both a linear and a logarithmic scale, also draws a
/// hidden plot with the other scale. `y` overrides the vertical axis. Returns whether a hidden plot was drawn.
bool draw_plot_box(Markup& html, const LineChart& chart, const PlotSize& size, const Axis* y = nullptr);

/// Returns "2 values are not finite (×)", with the chart's mark ×, or an empty text if all are finite.
std::string missing_note(const std::vector<Series>& series);

}  // namespace cachet::report
