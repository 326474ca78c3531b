#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/metric_description.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// The result of a group, and the group's cost per sample.
struct CostPoint {
  std::string run;       // the group's title
  double giga_macs = 0;  // 10⁹ multiply-accumulates of an evaluation: linear, convolution and attention together
  double value = 0;      // value of the deciding metric
};

/// A curve of the chart: the points of models of one family with the same plug-ins, in the order of rising cost.
struct CostCurve {
  std::string name;  // "pvt", "pvt, cache grc"
  std::vector<CostPoint> points;
};

/// A chart with the multiply-accumulates of models on the x axis and their results on the y axis, as in Fig. 1 of
/// Cached Transformers (arXiv 2312.12742).
struct CostCurves {
  std::string metric;  // "top-1"
  report::ValueForm form = report::ValueForm::number;
  std::vector<CostCurve> curves;
};

/// Returns the curves of ranked groups with known multiply-accumulates. Leaves out groups whose deciding metric is not
/// the deciding metric of the first curve. Returns no curves if there are fewer than two different costs.
CostCurves cost_curves(const std::vector<RunGroup>& groups);

/// Returns the family of a model, which is its name up to the size: "pvt_v2" for "pvt_v2_b2".
std::string model_family(const std::string& model);

/// cost_chart() and cost_table() return a chart and a table that show the results as a function of the cost. `curves`
/// must not be empty.
report::LineChart cost_chart(const CostCurves& curves);
report::Table cost_table(const CostCurves& curves);

}  // namespace cachet::tasks
