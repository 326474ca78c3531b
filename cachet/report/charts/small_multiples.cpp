#include "cachet/report/charts/small_multiples.h"

#include <algorithm>

#include "cachet/report/charts/line_chart.h"

namespace cachet::report {
namespace {

constexpr size_t kMaxCharts = 96;

Axis common_axis(const SmallMultiples& multiples, size_t points) {
  std::vector<DrawnSeries> all;
  bool from_zero = false;
  for (const LineChart& chart : multiples.charts) {
    from_zero = from_zero || chart.y_from_zero;
    for (const Series& series : chart.series) all.push_back(drawn_series(series, points));
  }
  return y_axis(all, false, from_zero);
}

}  // namespace

void draw(Markup& html, const SmallMultiples& multiples) {
  constexpr double letter = 7;
  const PlotSize size{280, 150, 4, 4, 240, false, false, letter};
  const Axis axis = common_axis(multiples, size.points);
  html.open("figure", {{"class", "multiples wide"}}).element("figcaption", {}, multiples.title);
  std::vector<Series> all;
  const std::vector<Series>* most = &all;  // the legend names the series of the chart that has most of them
  for (const LineChart& chart : multiples.charts) {
    all.insert(all.end(), chart.series.begin(), chart.series.end());
  }
  const std::string missing = missing_note(all);
  all.clear();
  for (const LineChart& chart : multiples.charts) {
    if (chart.series.size() > most->size()) most = &chart.series;
  }
  if (!std::ranges::all_of(multiples.charts, has_one_point)) draw_legend(html, *most);
  html.open("div", {{"class", "panels"}});
  for (size_t i = 0; i < multiples.charts.size() && i < kMaxCharts; ++i) {
    const LineChart& chart = multiples.charts[i];
    html.open("div", {{"class", "panel"}}).element("h4", {}, chart.title);
    if (has_one_point(chart))
      draw_numbers(html, chart);
    else
      draw_plot_box(html, chart, size, multiples.shared_scale ? &axis : nullptr);
    html.close();
  }
  html.close();
  std::string note = multiples.note;
  const auto add = [&](const std::string& sentence) {
    note += (note.empty() || sentence.empty() ? "" : " ") + sentence;
  };
  add(missing);
  if (multiples.charts.size() > kMaxCharts) {
    add("The first " + std::to_string(kMaxCharts) + " of " + std::to_string(multiples.charts.size()) + " are drawn.");
  }
  if (!note.empty()) html.paragraph("note", note);
  html.close();
}

}  // namespace cachet::report
