#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

/// The content of a run's page, for any kind of task. Empty parts are left out.
struct RunPage {
  std::string name, subtitle;
  Status status = Status::running;
  std::string status_detail;
  std::vector<Fact> facts;
  std::vector<LineChart> charts;         // charts of the quantities that the run should improve
  std::vector<LineChart> folded_charts;  // other metrics, learning rate, machine: a reader opens these charts
  std::vector<Section> sections;         // sections of the task and the plug-ins
  std::string recipe;                    // the recipe as its author wrote it
  std::string settings;                  // a line for each value that command lines changed in the recipe
  std::string commands;                  // the command lines that made and resumed the run
  std::vector<std::pair<std::string, std::string>> environment;
  std::string footer;
  std::string written{};  // time at which the page was written, for an unfinished run
};

/// Returns the page: results, samples and tables of the task; the curves of training; the sections that come after the
/// curves (after_curves); the recipe.
Page run_page(const RunPage& run);

/// The curves of one quantity in one chart; fractions are drawn in percent.
struct CurveChart {
  std::string title, unit;
  std::vector<Series> series;  // series without points are left out
  bool in_percent = false;
  bool from_zero = false;
};

/// Adds the chart if at least one of its series has points.
void add_chart(std::vector<LineChart>& charts, CurveChart chart);

}  // namespace cachet::report
