#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>

#include "app/arguments/common_arguments.h"
#include "app/arguments/one_of.h"
#include "app/commands/bounded_look.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "app/output/text_output.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/report/page/html.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/runs/cost_curves.h"
#include "cachet/tasks/runs/run_comparison.h"
#include "cachet/tasks/runs/run_values.h"
#include "cachet/train/runs/run_status.h"

namespace cachet::app {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string format = "text", progress = "auto";
  OutputArgument output;
  bool json = false, wide = false;
};

using Groups = std::vector<tasks::RunGroup>;
using nlohmann::ordered_json;

ordered_json metrics_json(const std::vector<tasks::RunValue>& values) {
  ordered_json metrics = ordered_json::object();
  for (const tasks::RunValue& value : values) metrics[value.name] = value.value;
  return metrics;
}

ordered_json run_json(const tasks::RunRecord& run) {
  const std::vector<tasks::RunValue> values = tasks::run_values(run);
  ordered_json metrics = metrics_json(values);
  for (const tasks::RunValue& value : values)
    if (std::isfinite(value.spread)) metrics[value.name + " stderr"] = value.spread;
  return {{"name", run.name},
          {"recipe", run.recipe_name},
          {"seed", run.seed()},
          {"commit", run.commit},
          {"device", run.device},
          {"processes", run.processes > 0 ? ordered_json(run.processes) : ordered_json()},
          {"date", run.created},
          {"state", run.status ? ordered_json(train::state_word(*run.status)) : ordered_json()},
          {"step", run.last_step()},
          {"unreadable_lines", run.unreadable_lines},
          {"chose_on_test", run.reports_choice()},
          {"metrics", metrics}};
}

ordered_json group_json(const tasks::RunGroup& group) {
  ordered_json runs = ordered_json::array(), counted = runs, deviations = ordered_json::object();
  for (const tasks::RunRecord& run : group.runs) runs.push_back(run.name);
  for (const tasks::RunRecord* run : group.counted()) counted.push_back(run->name);
  const std::vector<tasks::RunValue>& values = tasks::group_values(group);
  for (const tasks::RunValue& value : values)
    if (std::isfinite(value.spread)) deviations[value.name] = value.spread;
  return {{"name", group.title()},
          {"runs", runs},
          {"counted", counted},
          {"missing_seeds", group.missing},
          {"failed_seeds", group.failed()},
          {"means", metrics_json(values)},
          {"deviations", deviations}};
}

ordered_json to_json(const tasks::ReadGroups& read) {
  const Groups& groups = read.groups;
  const report::Table keys = report::differing_keys_table(tasks::compared_alone(groups));
  ordered_json json{{"schema", kSchema}, {"runs", ordered_json::array()}, {"groups", ordered_json::array()}};
  size_t column = 0;
  for (const tasks::RunGroup& group : groups) {
    for (const tasks::RunRecord& run : group.runs) {
      ordered_json differing = ordered_json::object();
      ++column;
      for (const auto& row : keys.rows) differing[row[0].text] = row[column].text;
      json["runs"].push_back(run_json(run));
      json["runs"].back()["differing"] = std::move(differing);
    }
    if (group.has_seeds()) json["groups"].push_back(group_json(group));
  }
  if (const tasks::CostCurves cost = tasks::cost_curves(groups); !cost.curves.empty()) {
    ordered_json curves = ordered_json::array();
    for (const tasks::CostCurve& curve : cost.curves) {
      ordered_json points = ordered_json::array();
      for (const tasks::CostPoint& point : curve.points)
        points.push_back({{"run", point.run}, {"giga_macs", point.giga_macs}, {"value", point.value}});
      curves.push_back({{"name", curve.name}, {"points", points}});
    }
    json["cost"] = {{"metric", cost.metric}, {"curves", curves}};
  }
  json["unreadable"] = read.unreadable;
  return json;
}

/// What a page is made of: these runs, in whatever state.
std::string source_of(const Groups& groups) {
  std::string source = "cachet compare";
  for (const tasks::RunGroup& group : groups)
    for (const tasks::RunRecord& run : group.runs) source += " " + run.id;
  return source;
}

/// `form` is that of text alone.
std::string rendered(const Groups& groups, const std::string& format, const report::TextForm& form) {
  if (format == "html") {
    report::Page page = tasks::comparison_page(groups, "Comparison");
    page.source = source_of(groups);
    return report::render_html(page);
  }
  if (format == "csv") return report::csv_table(tasks::published_table(groups));
  const auto text = [&](const report::Table& table) {
    if (format == "text") return report::text_table(table, form);
    return (table.title.empty() ? "" : "### " + table.title + "\n\n") + report::markdown_table(table);
  };
  const std::vector<report::ComparedRun> rows = tasks::compared(groups);
  const report::Table keys = report::differing_keys_table(rows), seeds = tasks::seeds_table(groups);
  const std::string notes = tasks::comparison_notes(groups);
  std::string all = text(report::results_table(rows)) + "\n";
  const auto sentences = [&](const std::string& notes) {
    return format == "text" ? report::text_paragraph(notes, form) : notes + "\n";
  };
  if (!notes.empty()) all += sentences(notes) + "\n";
  for (const report::Table& table : tasks::difference_tables(groups)) all += text(table) + "\n";
  if (!seeds.rows.empty()) all += text(seeds) + "\n";
  if (keys.rows.empty()) return keys.note.empty() ? all : all + sentences(keys.note);
  return all + text(keys);
}

/// The form that a file's name asks for.
std::string form_of(const std::string& file) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  if (suffix == ".txt") return "text";
  return suffix.substr(1);  // .html, .md, .csv
}

/// Whether a page begins with such a mark.
bool holds(const std::filesystem::path& page, const std::string& mark) {
  std::string beginning(mark.size() + 1024, '\0');
  std::ifstream file(page, std::ios::binary);
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return beginning.find(mark) != std::string::npos;
}

int run_compare(const CompareArguments& arguments) {
  constexpr std::chrono::seconds kMaxForData{60};
  BoundedLook look(kMaxForData, arguments.progress);
  const tasks::ReadGroups read = tasks::read_groups({arguments.runs.begin(), arguments.runs.end()}, std::ref(look));
  const Groups& groups = read.groups;
  if (const std::string& file = arguments.output.path; !file.empty()) {
    const std::string mark = report::source_mark(source_of(groups));
    require_file_output(arguments.output,
                        {{".html", ".md", ".csv", ".txt"}, {}, [&](const auto& page) { return holds(page, mark); }});
    io::write_file_atomically(file, rendered(groups, form_of(file), {}));
  }
  if (arguments.json)
    print_json(to_json(read));
  else
    std::cout << rendered(groups, arguments.format, printed_form(arguments.wide));
  if (arguments.json || arguments.format == "csv")  // which have no room for notes
    for (const std::string& line : tasks::unreadable_lines(groups)) std::cerr << line << '\n';
  for (const std::string& line : read.unreadable) std::cerr << "left out: " << line << '\n';
  return read.unreadable.empty() ? kDone : kFailed;
}

Action declare_compare(CLI::App& app) {
  auto arguments = std::make_shared<CompareArguments>();
  app.add_option("RUN", arguments->runs,
                 "Folder of a run, or of the seeds of one recipe. If a folder contains several such folders, the "
                 "command compares all of them")
      ->required()
      ->type_name("");
  app.add_option("--format", arguments->format,
                 "Format of the output: text, md, html, or csv with one line for each run (default: text)")
      ->check(one_of({"text", "md", "csv", "html"}))
      ->type_name("FORM");
  add_output(app, arguments->output,
             "Also write the comparison to a file, in the format of its suffix: .html, .md, .csv, .txt");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  add_progress_option(app, arguments->progress);
  return [arguments] { return run_compare(*arguments); };
}

const Registration registered_compare(
    {Topic::runs,
     "compare",
     "Compare runs: results, means over seeds, differences between their recipes, curves",
     {"cachet compare my-run other-run", "cachet compare my-run other-run -o comparison.html",
      "cachet compare my-run my-seeds --format csv"},
     declare_compare});

}  // namespace
}  // namespace cachet::app
