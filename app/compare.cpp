#include <filesystem>
#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/json.h"
#include "cachet/io/atomic_file.h"
#include "cachet/report/html.h"
#include "cachet/report/text_table.h"
#include "cachet/tasks/compared_run.h"

namespace cachet::app {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string format = "text", output;
  bool json = false;
};

std::vector<tasks::ComparedResult> gather(const CompareArguments& arguments) {
  std::vector<tasks::ComparedResult> results;
  for (const std::string& run : arguments.runs) results.push_back(tasks::compared_run(run));
  for (auto& average : tasks::seed_averages(results)) results.push_back(std::move(average));
  return results;
}

std::vector<report::ComparedRun> shown(const std::vector<tasks::ComparedResult>& results) {
  std::vector<report::ComparedRun> runs;
  for (const auto& result : results) runs.push_back(result.shown);
  return runs;
}

nlohmann::ordered_json to_json(const std::vector<tasks::ComparedResult>& results) {
  const report::Table keys = report::differing_keys_table(shown(results));
  nlohmann::ordered_json json{{"schema", kSchema}, {"runs", nlohmann::ordered_json::array()}};
  size_t column = 0;
  for (const auto& result : results) {
    nlohmann::ordered_json metrics = nlohmann::ordered_json::object(), recipe = metrics;
    for (const auto& metric : result.shown.metrics) metrics[metric.name] = metric.cell.value;
    metrics["top-1 stderr"] = result.top1_stderr;
    if (!result.shown.recipe.empty()) {
      ++column;
      for (const auto& row : keys.rows) recipe[row[0].text] = row[column].text;
    }
    json["runs"].push_back({{"name", result.shown.name}, {"metrics", metrics}, {"differing", recipe}});
  }
  return json;
}

std::string rendered(const std::vector<tasks::ComparedResult>& results, const std::string& format) {
  const std::vector<report::ComparedRun> runs = shown(results);
  const std::string differences = tasks::accuracy_differences(results);
  if (format == "html") {
    report::Page page = report::comparison_page(runs, "Comparison");
    page.sections.front().note = differences;
    return report::render_html(page);
  }
  const report::Table table = report::results_table(runs), keys = report::differing_keys_table(runs);
  if (format == "csv") return report::csv_table(table);
  const auto text = [&](const report::Table& shown_table) {
    return format == "md" ? report::markdown_table(shown_table) : report::text_table(shown_table);
  };
  std::string all = text(table) + "\n";
  if (!differences.empty()) all += differences + "\n\n";
  return all + (keys.rows.empty() ? keys.note + "\n" : text(keys));
}

/// The form that a file's name asks for.
std::string form_of(const std::string& file) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  if (suffix == ".md") return "md";
  if (suffix == ".csv") return "csv";
  return suffix == ".txt" ? "text" : "html";
}

int run_compare(const CompareArguments& arguments) {
  const std::vector<tasks::ComparedResult> results = gather(arguments);
  if (!arguments.output.empty())
    io::write_file_atomically(arguments.output, rendered(results, form_of(arguments.output)));
  if (arguments.json)
    std::cout << to_json(results).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  else
    std::cout << rendered(results, arguments.format);
  return kDone;
}

Action declare_compare(CLI::App& app) {
  auto arguments = std::make_shared<CompareArguments>();
  app.add_option("RUN", arguments->runs, "Folders of runs")->required()->type_name("...");
  app.add_option("--format", arguments->format, "text, md, csv or html (text)")
      ->check(CLI::IsMember({"text", "md", "csv", "html"}))
      ->type_name("FORM");
  app.add_option("-o,--output", arguments->output,
                 "Write it to a file too, in the form of its suffix: .html, .md, .csv, .txt")
      ->type_name("FILE");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_compare(*arguments); };
}

const Registration registered_compare({Topic::runs,
                                       "compare",
                                       "Compare runs: results, what their recipes do not share, curves",
                                       {"cachet compare my-run other-run",
                                        "cachet compare my-run other-run -o comparison.html",
                                        "cachet compare my-run other-run --json"},
                                       declare_compare});

}  // namespace
}  // namespace cachet::app
