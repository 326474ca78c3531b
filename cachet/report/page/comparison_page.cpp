#include "cachet/report/page/comparison_page.h"

#include <algorithm>
#include <map>
#include <set>

namespace cachet::report {
namespace {

// Names in the order in which the runs bring them up.
class OrderedNames {
 public:
  void add(const std::string& name) {
    if (seen_.insert(name).second) names_.push_back(name);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> names_;
};

const Metric* metric_named(const ComparedRun& run, const std::string& name) {
  const auto found =
      std::find_if(run.metrics.begin(), run.metrics.end(), [&](const Metric& m) { return m.name == name; });
  return found == run.metrics.end() ? nullptr : &*found;
}

LineChart merged_chart(const std::vector<ComparedRun>& runs, const std::string& section, const std::string& title) {
  LineChart chart;
  chart.title = title;
  const auto belongs = [&](const Curve& curve) { return curve.section == section && curve.chart == title; };
  bool several = false;
  for (const ComparedRun& run : runs) several |= std::count_if(run.curves.begin(), run.curves.end(), belongs) > 1;
  for (const ComparedRun& run : runs) {
    for (const Curve& curve : run.curves) {
      if (!belongs(curve)) continue;
      if (chart.x_label.empty()) chart.x_label = curve.x_label;
      if (chart.y_label.empty()) chart.y_label = curve.y_label;
      chart.series.push_back(curve.series);
      const std::string& label = run.label.empty() ? run.name : run.label;
      chart.series.back().name = several ? label + " · " + curve.series.name : label;
    }
  }
  return chart;
}

}  // namespace

Table results_table(const std::vector<ComparedRun>& runs) {
  Table table{"Results", {{"run"}}, {}, ""};
  const bool states = std::ranges::any_of(runs, [](const ComparedRun& run) { return !run.state.empty(); });
  if (states) table.columns.push_back({"state"});
  OrderedNames names;
  for (const ComparedRun& run : runs) {
    for (const Metric& metric : run.metrics) names.add(metric.name);
  }
  for (const std::string& name : names.names()) {
    Better better = Better::neither;
    for (const ComparedRun& run : runs) {
      const Metric* metric = metric_named(run, name);
      if (metric && better == Better::neither) better = metric->better;
    }
    table.columns.push_back({name, Alignment::right, better});
  }
  for (const ComparedRun& run : runs) {
    if (!run.ranked) table.unranked.insert(table.rows.size());
    table.rows.push_back({run.name});
    if (states) table.rows.back().push_back(run.state.empty() ? Cell("–") : Cell(run.state));
    for (const std::string& name : names.names()) {
      const Metric* metric = metric_named(run, name);
      table.rows.back().push_back(metric ? metric->cell : Cell("–"));
    }
  }
  return table;
}

Table differing_keys_table(const std::vector<ComparedRun>& runs) {
  Table table{"Differing keys of the recipes", {{"key"}}, {}, ""};
  OrderedNames keys;
  std::vector<std::map<std::string, std::string>> recipes;
  for (const ComparedRun& run : runs) {
    if (run.recipe.empty()) continue;  // a baseline
    table.columns.push_back({run.name});
    recipes.emplace_back(run.recipe.begin(), run.recipe.end());
    for (const auto& [key, value] : run.recipe) keys.add(key);
  }
  for (const std::string& key : keys.names()) {
    std::vector<Cell> row = {key};
    bool same = true;
    for (const auto& recipe : recipes) {
      const auto value = recipe.find(key);
      const auto first = recipes.front().find(key);
      same = same && (value == recipe.end()) == (first == recipes.front().end()) &&
             (value == recipe.end() || value->second == first->second);
      row.push_back(value == recipe.end() ? Cell("–") : Cell(value->second));
    }
    if (!same) table.rows.push_back(std::move(row));
  }
  if (table.rows.empty() && recipes.size() > 1) table.note = "The recipes are the same.";
  return table;
}

Page comparison_page(const std::vector<ComparedRun>& runs, const std::string& title) {
  Page page;
  page.title = title;
  page.subtitle = std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs");
  page.sections.push_back({"Results", {results_table(runs)}, ""});
  std::get<Table>(page.sections[0].blocks[0]).title = "";
  OrderedNames sections;
  std::map<std::string, OrderedNames> charts;  // by section
  for (const ComparedRun& run : runs) {
    for (const Curve& curve : run.curves) {
      sections.add(curve.section);
      charts[curve.section].add(curve.chart);
    }
  }
  for (const std::string& name : sections.names()) {
    page.sections.push_back({name, {}, ""});
    for (const std::string& chart : charts[name].names())
      page.sections.back().blocks.push_back(merged_chart(runs, name, chart));
  }
  Table keys = differing_keys_table(runs);
  if (!keys.rows.empty() || !keys.note.empty()) page.sections.push_back({"Recipes", {std::move(keys)}, ""});
  return page;
}

}  // namespace cachet::report
