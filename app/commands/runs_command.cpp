#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <tuple>

#include "app/arguments/one_of.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/config/glob.h"
#include "cachet/report/format.h"
#include "cachet/report/text/text_table.h"
#include "cachet/report/uncertainty.h"
#include "cachet/tasks/runs/run_list.h"
#include "cachet/train/runs/run_status.h"

namespace cachet::app {
namespace {

struct RunsArguments {
  std::string folder = "runs", state, glob, order = "date";
  bool json = false, wide = false, reverse = false;
};

std::string state_of(const tasks::ListedRun& run) { return run.status ? train::state_word(*run.status) : "unknown"; }

/// "2026-11-21 20:43"
std::string date_of(const tasks::ListedRun& run) {
  std::string date = run.created.substr(0, 16);
  std::ranges::replace(date, 'T', ' ');
  return date;
}

/// "top-1 82.04 ± 0.91 %"
std::string best_text(const tasks::ListedRun& run) {
  if (!run.best) return "";
  const auto& [metric, value, error, share_of] = *run.best;
  return metric.title + " " + report::measured_text(metric, value, error, share_of);
}

/// Smaller is better, so that a sort by the metric begins with the best run of each metric.
std::tuple<bool, std::string, double> metric_order(const tasks::ListedRun& run) {
  if (!run.best) return {true, "", 0};
  const bool higher = run.best->metric.better == report::Better::higher;
  return {false, run.best->metric.title, higher ? -run.best->value : run.best->value};
}

void sort_runs(std::vector<tasks::ListedRun>& runs, const RunsArguments& arguments) {
  using tasks::ListedRun;
  if (arguments.order == "name") std::ranges::stable_sort(runs, {}, &ListedRun::name);
  if (arguments.order == "recipe") std::ranges::stable_sort(runs, {}, &ListedRun::recipe);
  if (arguments.order == "state") std::ranges::stable_sort(runs, {}, state_of);
  if (arguments.order == "date") std::ranges::stable_sort(runs, {}, &ListedRun::created);
  if (arguments.order == "duration") std::ranges::stable_sort(runs, {}, &ListedRun::seconds);
  if (arguments.order == "metric") std::ranges::stable_sort(runs, {}, metric_order);
  if (arguments.reverse) std::ranges::reverse(runs);
}

void keep_asked_for(std::vector<tasks::ListedRun>& runs, const RunsArguments& arguments) {
  if (!arguments.state.empty())
    std::erase_if(runs, [&](const tasks::ListedRun& run) { return state_of(run) != arguments.state; });
  if (arguments.glob.empty()) return;
  std::erase_if(runs, [&](const tasks::ListedRun& run) {
    return !config::glob_matches(arguments.glob, run.name) && !config::glob_matches(arguments.glob, run.recipe);
  });
}

nlohmann::ordered_json run_json(const tasks::ListedRun& run) {
  nlohmann::ordered_json json{{"name", run.name},       {"path", run.path.string()}, {"recipe", run.recipe},
                              {"state", state_of(run)}, {"date", run.created},       {"seconds", run.seconds}};
  if (run.status) {
    json["step"] = run.status->step;
    json["total_steps"] = run.status->total_steps;
  }
  if (run.best) {
    json["best"] = {{"metric", run.best->metric.name}, {"value", run.best->value}};
    if (run.best->error) json["best"]["stderr"] = *run.best->error;
  }
  return json;
}

void print_table(const std::vector<tasks::ListedRun>& runs, const RunsArguments& arguments) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"run"}, {"recipe"}, {"state"}, {"best"}, {"date (UTC)"}, {"duration", Alignment::right}};
  table.columns[1].importance = -2;
  table.columns[4].importance = -1;
  for (const tasks::ListedRun& run : runs)
    table.rows.push_back({run.name, run.recipe, run.status ? train::to_text(*run.status) : "unknown", best_text(run),
                          date_of(run), run.seconds > 0 ? report::format_duration(run.seconds) : ""});
  std::cout << report::text_table(table, printed_form(arguments.wide));
}

int run_runs(const RunsArguments& arguments) {
  tasks::RunList list = tasks::list_runs(arguments.folder);
  const bool holds_runs = !list.runs.empty();
  keep_asked_for(list.runs, arguments);
  sort_runs(list.runs, arguments);
  if (arguments.json) {
    nlohmann::ordered_json json{{"schema", kSchema}, {"runs", nlohmann::ordered_json::array()}};
    for (const tasks::ListedRun& run : list.runs) json["runs"].push_back(run_json(run));
    json["unreadable"] = list.unreadable;
    print_json(json);
  } else if (list.runs.empty()) {
    std::cout << arguments.folder << (holds_runs ? ": no run matches the options\n" : ": holds no runs\n");
  } else {
    print_table(list.runs, arguments);
  }
  for (const std::string& line : list.unreadable) std::cerr << "left out: " << line << '\n';
  return list.unreadable.empty() ? kDone : kFailed;
}

Action declare_runs(CLI::App& app) {
  auto arguments = std::make_shared<RunsArguments>();
  app.add_option("FOLDER", arguments->folder,
                 "Folder that contains the runs, including the runs of seeds and sweeps (default: runs)")
      ->type_name("");
  app.add_option("--state", arguments->state,
                 "List only runs in this state: finished, killed, 'stopped early' and so on")
      ->check(one_of({"running", "finished", "stopped early", "out of time", "interrupted", "not finite", "failed",
                      "killed"})
                  .description(""))  // the list is wider than a terminal
      ->type_name("STATE");
  app.add_option("--match", arguments->glob,
                 "List only runs whose name or recipe matches this pattern, such as '*cached*'")
      ->type_name("GLOB");
  app.add_option("--sort", arguments->order, "Order of the list (default: date)")
      ->check(one_of({"date", "duration", "metric", "name", "recipe", "state"}))
      ->type_name("WHAT");
  app.add_flag("--reverse", arguments->reverse, "Reverse the order");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  return [arguments] { return run_runs(*arguments); };
}

const Registration registered_runs({Topic::runs,
                                    "runs",
                                    "List runs with their state, best result, date and duration",
                                    {"cachet runs", "cachet runs my-runs --sort metric",
                                     "cachet runs --state finished --match '*cached*' --json"},
                                    declare_runs});

}  // namespace
}  // namespace cachet::app
