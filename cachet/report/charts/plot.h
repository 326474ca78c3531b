#pragma once

#include <string>
#include <vector>

#include "cachet/report/charts/axis.h"
#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Measures of a plot, in user units of the SVG (about a pixel on a wide screen).
struct PlotSize {
  double width = 560, height = 300;
  int x_ticks = 7, y_ticks = 6;
  size_t points = 900;  // of a series
  bool direct_labels = true;
  bool axis_titles = true;
  double letter = 10.5;  // of the labels of ticks, where they are largest: on a phone
};

/// Class names of the i-th series: six colours that colour-blind people can distinguish, then the same dashed and
/// dotted.
std::string series_class(size_t index);

/// The SVG of a chart's curves with its axes. `y` are the ends of the vertical axis (its pixels are set here).
void draw_plot(Markup& svg, const LineChart& chart, const std::vector<DrawnSeries>& series, Axis y,
               const PlotSize& size, bool hidden = false);

/// A sentence with the range of each series: the drawing in words.
std::string described(const LineChart& chart, const std::vector<DrawnSeries>& series);

/// Where the frame of the plot lies in the SVG: the labels of both axes have room outside of it.
struct PlotFrame {
  double left, top, right, bottom;
};
PlotFrame plot_frame(const LineChart& chart, const Axis& x, const Axis& y, const PlotSize& size);

}  // namespace cachet::report
