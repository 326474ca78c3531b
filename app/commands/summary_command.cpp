#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>

#include "app/arguments/described_model.h"
#include "app/arguments/model_argument.h"
#include "app/arguments/number_option.h"
#include "app/arguments/one_of.h"
#include "app/commands/command.h"
#include "app/commands/published_table.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/analysis/cost/model_summary.h"
#include "cachet/report/format.h"
#include "cachet/report/text/text_table.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/exports/exported_model.h"

namespace cachet::app {
namespace {

struct SummaryArguments {
  ModelArgument model;
  int64_t depth = analysis::kAllDepths;
  bool published = false, inference = false, json = false, wide = false;
};

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

report::Cell count_cell(int64_t count) {
  const auto value = static_cast<double>(count);
  return {count == 0 ? "" : report::format_count(value), value};
}

std::vector<report::Cell> row(const std::string& name, const std::string& kind, const std::string& shape,
                              int64_t parameters, const analysis::Products& macs) {
  return {name, kind, shape, count_cell(parameters), count_cell(macs.linear_convolution), count_cell(macs.attention)};
}

double kernel_share(const analysis::ModelSummary& summary) {
  return static_cast<double>(summary.kernel_parameters) / static_cast<double>(summary.block_parameters);
}

/// What is counted: "training".
std::string word(analysis::Pass pass) { return pass == analysis::Pass::training ? "training" : "evaluation"; }

void print_table(const models::ModelPlan& plan, const analysis::ModelSummary& summary, analysis::Pass pass, bool wide) {
  using report::Alignment;
  const std::string counted = " (" + word(pass) + ")";
  report::Table table;
  table.columns = {{"layer"},
                   {"kind"},
                   {"output"},
                   {"parameters", Alignment::right},
                   {"linear + conv MACs" + counted, Alignment::right},
                   {"attention MACs" + counted, Alignment::right}};
  table.columns[2].importance = -1;  // shapes
  for (const auto& layer : summary.layers)
    table.rows.push_back(row(layer.path.empty() ? "(model)" : layer.path, layer.kind, shape_text(layer.output_shape),
                             layer.parameters, layer.macs));
  table.rows.push_back(row("total", "", "", summary.parameters, summary.macs));
  std::cout << plan.name << ", one sample of " << plan.input.text << "\n\n"
            << report::text_table(table, printed_form(wide));
  if (summary.kernel_parameters > 0)
    std::cout << "\ntrained kernels: " << report::format_count(static_cast<double>(summary.kernel_parameters))
              << " parameters, " << report::format_percent(kernel_share(summary))
              << " of what the blocks have besides\n";
}

/// Of an export, whose table has what is left of the model.
void print_model_before(const analysis::ModelSummary& before) {
  const auto count = [](int64_t number) { return report::format_count(static_cast<double>(number)); };
  std::cout << "\nthese are the numbers of the export; the model that it was made of has " << count(before.parameters)
            << " parameters, " << count(before.macs.linear_convolution) << " linear + conv MACs and "
            << count(before.macs.attention) << " attention MACs (evaluation)\n";
}

nlohmann::ordered_json to_json(const std::string& name, const analysis::ModelSummary& summary, analysis::Pass pass) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const auto& layer : summary.layers)
    layers.push_back({{"path", layer.path},
                      {"kind", layer.kind},
                      {"output_shape", layer.output_shape},
                      {"parameters", layer.parameters},
                      {"macs", macs_json(layer.macs)}});
  return {{"schema", kSchema},
          {"model", name},
          {"parameters", summary.parameters},
          {"kernel_parameters", summary.kernel_parameters},
          {"block_parameters", summary.block_parameters},
          {"macs", macs_json(summary.macs)},
          {"pass", word(pass)},
          {"layers", layers}};
}

int run_published(const SummaryArguments& arguments) {
  if (!arguments.model.name.empty() || !arguments.model.settings.empty())
    throw UsageError("--table shows the models of the paper; leave out MODEL and --set");
  show_published_counts(arguments.json, arguments.wide);
  return kDone;
}

int run_summary(const SummaryArguments& arguments) {
  if (arguments.published) return run_published(arguments);
  const auto plan = read_described_model(arguments.model);
  const bool exported = is_model_on_disk(arguments.model.name) && runtime::is_export(arguments.model.name);
  const auto pass = exported || arguments.inference ? analysis::Pass::inference : analysis::Pass::training;
  const auto as_given = analysis::summarize(plan, pass, arguments.depth);
  const auto summary = exported ? analysis::summarize(*tasks::built_as_exported(plan), arguments.depth) : as_given;
  if (arguments.json) {
    auto json = to_json(plan.name, summary, pass);
    if (exported) json["made_of"] = {{"parameters", as_given.parameters}, {"macs", macs_json(as_given.macs)}};
    print_json(json);
    return kDone;
  }
  print_table(plan, summary, pass, arguments.wide);
  if (exported) print_model_before(as_given);
  return kDone;
}

Action declare_summary(CLI::App& app) {
  auto arguments = std::make_shared<SummaryArguments>();
  CLI::Option* model = add_model_argument(app, arguments->model);
  model->description(std::string("One of: ") + kDescribedModels + ", or an export");
  // CLI11 sees what was given before it asks for what is required.
  app.add_option_function<std::string>(
         "--table",
         [arguments, model](const std::string&) {
           arguments->published = true;
           model->required(false);
         },
         "Count the models of a published table beside what was printed: paper")
      ->check(one_of({"paper"}))
      ->type_name("TABLE");
  add_number(app, "--depth", arguments->depth, "Levels of modules to show; 0 shows the model alone")->type_name("N");
  app.add_flag("--inference", arguments->inference, "Count evaluation's pass, where a frozen cache runs no gates");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  return [arguments] { return run_summary(*arguments); };
}

const Registration registered_summary({Topic::models,
                                       "summary",
                                       "A model's layers: shapes, parameters, multiply-accumulates",
                                       {"cachet summary vit_tiny_patch16_224 --depth 2",
                                        "cachet summary lra_text_2glu --set model.cache.kind=grc --json",
                                        "cachet summary --table paper"},
                                       declare_summary});

}  // namespace
}  // namespace cachet::app
