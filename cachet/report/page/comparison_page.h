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

/// A curve, the chart that it is drawn in together with the other runs' curves, and the section of that chart.
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
  std::string label{};  // in charts, where that is not the name
  std::string state{};  // "finished at step 300"; empty for what is not a run
  bool ranked = true;   // whether it counts for the best value: not an unfinished or failed run
};

/// A row for each run, a column for its state and for each metric that any of them has, the best of each column marked.
Table results_table(const std::vector<ComparedRun>& runs);

/// A row for each recipe key that is not the same in all runs, a column for each run that has a recipe.
Table differing_keys_table(const std::vector<ComparedRun>& runs);

/// The results, the merged curves by section, the differing keys. A chart with several curves a run names them "run ·
/// curve".
Page comparison_page(const std::vector<ComparedRun>& runs, const std::string& title);

}  // namespace cachet::report
