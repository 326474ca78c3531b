#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

struct Metric {
  std::string name;
  Cell cell;
  Better better = Better::neither;
};

/// A curve, the chart that shows it together with the curves of other runs, and the section of this chart.
struct Curve {
  std::string chart, x_label, y_label;
  Series series;
  std::string section = "Curves";
};

struct ComparedRun {
  std::string name;
  std::vector<std::pair<std::string, std::string>> recipe;  // resolved keys and values
  std::vector<Metric> metrics;
  std::vector<Curve> curves;
  std::string label{};  // label in charts, if it differs from the name
  std::string state{};  // state of a run: "finished at step 300"; empty if this is not a run
  bool ranked = true;   // whether it can be the best: false for an unfinished or failed run
};

/// Returns a table with a row for each run: its state and all metrics. The best value of each column is marked.
Table results_table(const std::vector<ComparedRun>& runs);

/// Returns a table: a row for each recipe key that differs between runs, a column for each run that has a recipe.
Table differing_keys_table(const std::vector<ComparedRun>& runs);

/// Returns the page with the results, the curves of all runs merged by section, and the recipe keys that differ. If a
/// chart has several curves per run, a curve's name is "run · curve".
Page comparison_page(const std::vector<ComparedRun>& runs, const std::string& title);

}  // namespace cachet::report
