#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

/// All that the page of a run shows, whatever was trained. What is empty is left out.
struct RunPage {
  std::string name, subtitle;
  Status status = Status::running;
  std::string status_detail;
  std::vector<Fact> facts;
  std::vector<LineChart> charts;         // of what the run is to reach
  std::vector<LineChart> folded_charts;  // of other metrics, the learning rate, the machine: a reader opens them
  std::vector<Section> sections;         // of the task and the plug-ins
  std::string recipe;                    // as written
  std::string settings;                  // a line for each value that command lines set over it
  std::string commands;                  // the command lines that made and resumed the run
  std::vector<std::pair<std::string, std::string>> environment;
  std::string footer;
  std::string written{};  // of a run that is not finished: when its page was written
};

/// Results, samples and tables of the task; the curves of training; sections that come after them (after_curves); the
/// recipe.
Page run_page(const RunPage& run);

/// The curves of one quantity in one chart; fractions are drawn in percent.
struct CurveChart {
  std::string title, unit;
  std::vector<Series> series;  // those without points are left out
  bool in_percent = false;
  bool from_zero = false;
};

/// Adds the chart where it has a curve.
void add_chart(std::vector<LineChart>& charts, CurveChart chart);

}  // namespace cachet::report
