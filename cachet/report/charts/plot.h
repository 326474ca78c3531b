#pragma once

#include <string>
#include <vector>

#include "cachet/report/charts/axis.h"
#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Sizes of a plot, in user units of the SVG (about a pixel on a wide screen).
struct PlotSize {
  double width = 560, height = 300;
  int x_ticks = 7, y_ticks = 6;
  size_t points = 900;  // maximum number of drawn points of a series
  bool direct_labels = true;
  bool axis_titles = true;
  double letter = 10.5;  // size of the tick labels on a phone, where they are largest
};

/// Returns the CSS classes of the series at `index`. The first six series have colours that colour-blind people can
/// distinguish. Series after the sixth have the same six colours, with dashed lines and then with dotted lines.
std::string series_class(size_t index);

/// Draws the SVG of a chart's curves and axes. The caller sets the values at the ends of the vertical axis `y`, and
/// draw_plot() sets the pixels of these ends.
void draw_plot(Markup& svg, const LineChart& chart, const std::vector<DrawnSeries>& series, Axis y,
               const PlotSize& size, bool hidden = false);

/// Returns a sentence with the range of each series, which describes the drawing in words.
std::string described(const LineChart& chart, const std::vector<DrawnSeries>& series);

/// Edges of the plot's frame in the SVG. The labels of both axes are outside the frame.
struct PlotFrame {
  double left, top, right, bottom;
};
PlotFrame plot_frame(const LineChart& chart, const Axis& x, const Axis& y, const PlotSize& size);

}  // namespace cachet::report
