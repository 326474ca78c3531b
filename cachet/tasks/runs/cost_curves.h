#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/metric_description.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// What a group reached, and what a sample costs it.
struct CostPoint {
  std::string run;       // the group's title
  double giga_macs = 0;  // multiply-accumulates of an evaluation, linear, convolution and attention together, ÷ 10⁹
  double value = 0;      // of the metric that decides
};

/// Models of one family with the same plug-ins, the cheapest first.
struct CostCurve {
  std::string name;  // "pvt", "pvt, cache grc"
  std::vector<CostPoint> points;
};

/// What was reached against multiply-accumulates, as Fig. 1 of Cached Transformers (arXiv 2312.12742) has it.
struct CostCurves {
  std::string metric;  // "top-1"
  report::ValueForm form = report::ValueForm::number;
  std::vector<CostCurve> curves;
};

/// Of the groups that take part in what is best, whose multiply-accumulates are known, and that have the deciding
/// metric of the first of them. Empty if they do not have two different costs.
CostCurves cost_curves(const std::vector<RunGroup>& groups);

/// The family of a model: its name without its size and what follows: "pvt_v2" of "pvt_v2_b2".
std::string model_family(const std::string& model);

/// Both are only called with curves.
report::LineChart cost_chart(const CostCurves& curves);
report::Table cost_table(const CostCurves& curves);

}  // namespace cachet::tasks
