#include "cachet/tasks/runs/cost_curves.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "cachet/report/format.h"
#include "cachet/tasks/runs/conditions.h"
#include "cachet/tasks/runs/run_values.h"

namespace cachet::tasks {
namespace {

const char* const kCostMeaning =
    "Multiply-accumulates of linear layers, convolutions and attention in the evaluation of one "
    "sample. The papers call them FLOPs.";

/// A word of a recipe, without its quotes; empty if it has none.
std::string word_of(const RunRecord& run, const std::string& key) {
  const auto found = run.recipe.find(key);
  if (found == run.recipe.end()) return "";
  std::string word = found->second;
  std::erase(word, '"');
  return word;
}

/// "pvt, cache grc, norm un": the family, and the plug-ins that are not the plain model's.
std::string curve_name(const RunRecord& run) {
  std::string name = model_family(run.description.model);
  struct PlugIn {
    const char *key, *name, *plain;
  };
  for (const PlugIn& plug_in :
       {PlugIn{"model.attention.kind", "attention", "softmax"}, PlugIn{"model.cache.kind", "cache", "none"},
        PlugIn{"model.norm.kind", "norm", "layer"}})
    if (const std::string kind = word_of(run, plug_in.key); !kind.empty() && kind != plug_in.plain)
      name += std::string(name.empty() ? "" : ", ") + plug_in.name + " " + kind;
  return name.empty() ? "plain" : name;
}

const RunValue* deciding_value_of(const RunGroup& group) {
  for (const RunValue& value : group_values(group))
    if (value.decides && std::isfinite(value.value)) return &value;
  return nullptr;
}

}  // namespace

std::string model_family(const std::string& model) {
  static const std::regex size("nano|tiny|small|base|medium|large|huge|[tsbl]|b[0-9]+|[0-9]+");
  std::stringstream parts(model);
  std::string family;
  for (std::string part; std::getline(parts, part, '_');) {
    if (!family.empty() && std::regex_match(part, size)) break;
    family += (family.empty() ? "" : "_") + part;
  }
  return family;
}

CostCurves cost_curves(const std::vector<RunGroup>& groups) {
  CostCurves all;
  std::set<double> costs;
  for (const RunGroup& group : groups) {
    const train::RunDescription& description = group.runs.front().description;
    const RunValue* value = deciding_value_of(group);
    const int64_t macs = description.linear_convolution_macs + description.attention_macs;
    if (value == nullptr || !description.has_macs() || macs <= 0 || !is_ranked(group, groups)) continue;
    if (all.metric.empty()) {
      all.metric = value->name;
      all.form = value->form;
    }
    if (value->name != all.metric) continue;
    const std::string name = curve_name(group.runs.front());
    auto curve = std::ranges::find(all.curves, name, &CostCurve::name);
    if (curve == all.curves.end()) curve = all.curves.insert(all.curves.end(), {name, {}});
    curve->points.push_back({group.title(), static_cast<double>(macs) / 1e9, value->value});
    costs.insert(static_cast<double>(macs));
  }
  if (costs.size() < 2) return {};
  for (CostCurve& curve : all.curves) std::ranges::stable_sort(curve.points, {}, &CostPoint::giga_macs);
  return all;
}

report::LineChart cost_chart(const CostCurves& curves) {
  report::LineChart chart{curves.metric + " against cost", "GMACs of a sample", curves.metric};
  chart.markers = true;
  chart.note = std::string(kCostMeaning) + " A curve connects models of one family that have the same plug-ins.";
  for (const CostCurve& curve : curves.curves) {
    report::Series series{curve.name, {}, {}};
    for (const CostPoint& point : curve.points) {
      series.x.push_back(point.giga_macs);
      series.y.push_back(point.value);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

report::Table cost_table(const CostCurves& curves) {
  using report::Alignment;
  report::Table table{curves.metric + " against cost",
                      {{"curve"}, {"run"}, {"GMACs", Alignment::right}, {curves.metric, Alignment::right}},
                      {},
                      kCostMeaning};
  for (const CostCurve& curve : curves.curves)
    for (const CostPoint& point : curve.points)
      table.rows.push_back({curve.name,
                            point.run,
                            {report::format_number(point.giga_macs, 4), point.giga_macs},
                            {report::format_value(curves.form, point.value, 6), point.value}});
  return table;
}

}  // namespace cachet::tasks
