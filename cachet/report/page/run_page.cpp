#include "cachet/report/page/run_page.h"

namespace cachet::report {
namespace {

Section setup_section(const RunPage& run) {
  Section section{"Recipe and environment", {}, ""};
  const auto add = [&](const char* title, const std::string& text) {
    if (!text.empty()) section.blocks.push_back(CodeBlock{title, text});
  };
  add("Recipe", run.recipe);
  add("Set over the recipe", run.settings);
  add("Command", run.commands);
  if (!run.environment.empty()) {
    Table table{"Environment", {{""}, {""}}, {}, ""};
    for (const auto& [name, value] : run.environment) table.rows.push_back({name, value});
    section.blocks.push_back(std::move(table));
  }
  return section;
}

// "More curves: loss, top-5, learning rate"
std::string fold_title(const std::vector<LineChart>& charts) {
  std::string title = "More curves: ";
  for (size_t i = 0; i < charts.size(); ++i) {
    std::string name = charts[i].title;
    // A capital letter that begins a word, not an abbreviation.
    if (name.size() > 1 && name[0] >= 'A' && name[0] <= 'Z' && name[1] >= 'a' && name[1] <= 'z')
      name[0] = static_cast<char>(name[0] - 'A' + 'a');
    title += (i > 0 ? ", " : "") + name;
  }
  return title;
}

}  // namespace

void add_chart(std::vector<LineChart>& charts, CurveChart chart) {
  std::erase_if(chart.series, [](const Series& series) { return series.x.empty(); });
  if (chart.series.empty()) return;
  if (chart.in_percent)
    for (Series& series : chart.series)
      for (double& y : series.y) y *= 100;
  charts.push_back({std::move(chart.title), "step", std::move(chart.unit), std::move(chart.series)});
  charts.back().y_from_zero = chart.from_zero;
}

Page run_page(const RunPage& run) {
  Page page{run.name, run.subtitle, run.status, run.status_detail, run.facts, {}, run.footer};
  const auto add = [&](Section section) {
    if (!section.blocks.empty()) page.sections.push_back(std::move(section));
  };
  page.written = run.written;
  for (const Section& section : run.sections)
    if (!section.after_curves) add(section);
  Section training{"Training", {run.charts.begin(), run.charts.end()}, ""};
  if (!run.folded_charts.empty())
    training.blocks.push_back(ChartFold{fold_title(run.folded_charts), run.folded_charts});
  add(std::move(training));
  for (const Section& section : run.sections)
    if (section.after_curves) add(section);
  add(setup_section(run));
  return page;
}

}  // namespace cachet::report
