#include <iostream>
#include <memory>

#include "app/arguments/model_argument.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/analysis/cost/model_summary.h"
#include "cachet/report/format.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/weights/published_weights.h"

namespace cachet::app {
namespace {

struct ModelsArguments {
  std::string glob;
  std::vector<std::string> settings;
  bool json = false, wide = false, weights = false;
};

struct Listed {
  models::ModelPlan plan;
  analysis::ModelSummary summary;
};

void print_table(const std::vector<Listed>& list, bool wide) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"model"},
                   {"parameters", Alignment::right},
                   {"linear + conv MACs (training)", Alignment::right},
                   {"attention MACs (training)", Alignment::right},
                   {"input", Alignment::right},
                   {"weights"}};
  for (const auto& [plan, summary] : list) {
    const auto weights = tasks::published_weights(plan.name);
    table.rows.push_back({plan.name, report::format_count(static_cast<double>(summary.parameters)),
                          report::format_count(static_cast<double>(summary.macs.linear_convolution)),
                          report::format_count(static_cast<double>(summary.macs.attention)), plan.input.text,
                          weights ? weights->code : ""});
  }
  std::cout << report::text_table(table, printed_form(wide));
}

/// The models with weights that import, and how these are called: no model is built for it.
void print_weights(const std::vector<std::string>& names, bool wide) {
  report::Table table;
  table.columns = {{"model"}, {"published weights"}};
  for (const std::string& name : names)
    if (const auto weights = tasks::published_weights(name)) table.rows.push_back({name, weights->name()});
  std::cout << report::text_table(table, printed_form(wide));
}

nlohmann::ordered_json to_json(const std::vector<Listed>& list) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const auto& [plan, summary] : list) {
    entries.push_back({{"name", plan.name}, {"parameters", summary.parameters}, {"macs", macs_json(summary.macs)}});
    nlohmann::ordered_json& sizes = entries.back()[plan.input.kind];
    for (const auto& [name, size] : plan.input.sizes) std::visit([&](auto value) { sizes[name] = value; }, size);
    for (const models::Capability capability : models::abilities_of(plan.name))
      entries.back()["can"].push_back(models::to_string(capability));
    if (const auto weights = tasks::published_weights(plan.name)) entries.back()["weights"] = weights->name();
  }
  return {{"schema", kSchema}, {"models", entries}};
}

int run_models(const ModelsArguments& arguments) {
  if (arguments.weights && !arguments.json) {
    print_weights(matching_models(arguments.glob), arguments.wide);
    return kDone;
  }
  std::vector<Listed> list;
  for (const std::string& name : matching_models(arguments.glob)) {
    auto plan = read_model({name, arguments.settings});
    auto summary = analysis::summarize(plan, analysis::Pass::training, /*depth=*/0);
    list.push_back({std::move(plan), std::move(summary)});
  }
  if (arguments.json)
    print_json(to_json(list));
  else
    print_table(list, arguments.wide);
  return kDone;
}

Action declare_models(CLI::App& app) {
  auto arguments = std::make_shared<ModelsArguments>();
  app.add_option("GLOB", arguments->glob, "Pattern of the names to list, such as 'deit*' (default: all)")
      ->type_name("");
  add_settings_option(app, arguments->settings);
  app.add_flag("--weights", arguments->weights,
               "List, for each model, the published weights that `cachet import` accepts");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  return [arguments] { return run_models(*arguments); };
}

const Registration registered_models({Topic::models,
                                      "models",
                                      "List the models by name, with parameters and multiply-accumulates",
                                      {"cachet models", "cachet models 'deit*' --weights",
                                       "cachet models '*tiny*' --json"},
                                      declare_models});

}  // namespace
}  // namespace cachet::app
