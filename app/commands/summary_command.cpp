#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/arguments/described_model.h"
#include "app/arguments/model_argument.h"
#include "app/arguments/number_option.h"
#include "app/arguments/one_of.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/analysis/cost/model_summary.h"
#include "cachet/analysis/cost/published_counts.h"
#include "cachet/report/format.h"
#include "cachet/report/text/text_table.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/exports/exported_model.h"

namespace cachet::app {

/// Counts the models of the paper's tables and prints them with the published counts, as a table or a JSON object.
void show_published_counts(bool json, bool wide);

namespace {

using analysis::CountedCache;
using analysis::Pass;

struct CountedRow {
  analysis::PublishedCount published;
  analysis::ModelSummary training, evaluation;
};

/// What a cached model has more than the plain one, as a part of the plain one's.
struct Surplus {
  double parameters, training_macs, evaluation_macs;
  double paper_macs;  // by the paper's own numbers
};

std::vector<CountedRow> counted_rows() {
  std::vector<CountedRow> rows;
  for (const auto& published : analysis::published_counts()) {
    const auto plan = analysis::plan_of(published);
    rows.push_back(
        {published, analysis::summarize(plan, Pass::training, 0), analysis::summarize(plan, Pass::inference, 0)});
  }
  return rows;
}

std::optional<Surplus> surplus_of(const CountedRow& row, const std::vector<CountedRow>& rows) {
  if (row.published.cache == CountedCache::none) return std::nullopt;
  const auto plain = std::ranges::find_if(rows, [&](const CountedRow& other) {
    return other.published.cache == CountedCache::none &&
           std::string_view(other.published.model) == row.published.model;
  });
  const auto more = [](auto cached, auto of_plain) {
    return static_cast<double>(cached) / static_cast<double>(of_plain) - 1;
  };
  const auto macs = [](const analysis::ModelSummary& summary) { return summary.macs.linear_convolution; };
  return Surplus{more(row.training.parameters, plain->training.parameters),
                 more(macs(row.training), macs(plain->training)), more(macs(row.evaluation), macs(plain->evaluation)),
                 more(*row.published.paper_macs, *plain->published.paper_macs)};
}

const char* to_string(CountedCache cache) {
  switch (cache) {
    case CountedCache::none:
      return "–";
    case CountedCache::published:
      return "published code";
    case CountedCache::recipe:
      return "recipe";
    case CountedCache::pooled:
      return "recipe, pooled";
  }
  return "";
}

std::string fixed(std::optional<double> value, int digits) {
  if (!value) return "–";
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << *value;
  return text.str();
}

report::Table count_table(const std::vector<CountedRow>& rows) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"model"},
                   {"cache"},
                   {"ratio", Alignment::right},
                   {"parameters, M", Alignment::right},
                   {"published", Alignment::right},
                   {"MACs (training), G", Alignment::right},
                   {"published code", Alignment::right},
                   {"paper", Alignment::right}};
  for (const CountedRow& row : rows) {
    const auto& published = row.published;
    table.rows.push_back({published.model, to_string(published.cache),
                          published.cache_ratio ? published.cache_ratio : "–",
                          fixed(static_cast<double>(row.training.parameters) / 1e6, 3), fixed(published.parameters, 3),
                          fixed(static_cast<double>(row.training.macs.linear_convolution) / 1e9, 3),
                          fixed(published.code_macs, 3), fixed(published.paper_macs, 2)});
  }
  return table;
}

report::Table surplus_table(const std::vector<CountedRow>& rows) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"model"},
                   {"cache"},
                   {"parameters", Alignment::right},
                   {"MACs (training)", Alignment::right},
                   {"MACs (evaluation)", Alignment::right},
                   {"the paper's FLOPs", Alignment::right}};
  const auto percent = [](double part) { return "+" + fixed(100 * part, 1) + " %"; };
  for (const CountedRow& row : rows) {
    const auto more = surplus_of(row, rows);
    if (!more || std::string_view(row.published.cache_ratio) != "0.5") continue;
    table.rows.push_back({row.published.model, to_string(row.published.cache), percent(more->parameters),
                          percent(more->training_macs), percent(more->evaluation_macs), percent(more->paper_macs)});
  }
  return table;
}

void print_published(const std::vector<CountedRow>& rows, bool wide) {
  const report::TextForm form = printed_form(wide);
  const auto paragraph = [&](const char* text) { std::cout << report::text_paragraph(text, form) << '\n'; };
  paragraph("Tables 9 and 10 of Cached Transformers (arXiv 2312.12742), for one image of 3 x 224 x 224");
  std::cout << report::text_table(count_table(rows), form) << '\n';
  paragraph(
      "The table counts the MACs of linear layers and convolutions. For plain models, the paper has slightly more MACs "
      "than the published code. The paper's numbers for cached models include the positional convolution, but no "
      "pooling before the cache, although the paper's appendix pools by 4 and 2.");
  std::cout << '\n';
  paragraph("Additional cost of a cache of ratio 0.5. The paper reports 10 to 15 % more FLOPs and parameters");
  std::cout << report::text_table(surplus_table(rows), form);
}

nlohmann::ordered_json published_json(const std::vector<CountedRow>& rows) {
  using Json = nlohmann::ordered_json;
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  Json list = Json::array();
  for (const CountedRow& row : rows) {
    const auto& published = row.published;
    const auto more = surplus_of(row, rows);
    list.push_back({{"model", published.model},
                    {"cache", published.cache == CountedCache::none ? Json() : Json(to_string(published.cache))},
                    {"cache_ratio", published.cache_ratio ? Json(std::stod(published.cache_ratio)) : Json()},
                    {"parameters", row.training.parameters},
                    {"macs", macs_json(row.training.macs)},
                    {"published",
                     {{"parameters_millions", number(published.parameters)},
                      {"code_macs_billions", number(published.code_macs)},
                      {"paper_macs_billions", number(published.paper_macs)}}},
                    {"more_than_plain", more ? Json{{"parameters", more->parameters},
                                                    {"training_macs", more->training_macs},
                                                    {"evaluation_macs", more->evaluation_macs},
                                                    {"paper_macs", more->paper_macs}}
                                             : Json()}});
  }
  return {{"schema", kSchema}, {"table", "paper"}, {"rows", list}};
}

}  // namespace

void show_published_counts(bool json, bool wide) {
  if (json)
    print_json(published_json(counted_rows()));
  else
    print_published(counted_rows(), wide);
}

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
std::string to_string(analysis::Pass pass) { return pass == analysis::Pass::training ? "training" : "evaluation"; }

void print_table(const models::ModelPlan& plan, const analysis::ModelSummary& summary, analysis::Pass pass, bool wide) {
  using report::Alignment;
  const std::string counted = " (" + to_string(pass) + ")";
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
              << " of the other parameters of the blocks\n";
}

/// Of an export, whose table has what is left of the model.
void print_model_before(const analysis::ModelSummary& before) {
  const auto count = [](int64_t number) { return report::format_count(static_cast<double>(number)); };
  std::cout << "\nthe table above is for the export; the model before the export has " << count(before.parameters)
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
          {"pass", to_string(pass)},
          {"layers", layers}};
}

int run_published(const SummaryArguments& arguments) {
  if (!arguments.model.name.empty() || !arguments.model.settings.empty())
    throw UsageError("--table always shows the models of the paper; leave out MODEL and --set");
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
  model->description(std::string("One of: ") + kDescribedModels);
  // CLI11 sees what was given before it asks for what is required.
  app.add_option_function<std::string>(
         "--table",
         [arguments, model](const std::string&) {
           arguments->published = true;
           model->required(false);
         },
         "Count the models of a published table, and compare them with the published counts. The only table is `paper`")
      ->check(one_of({"paper"}))
      ->type_name("TABLE");
  add_number(app, "--depth", arguments->depth, "Number of levels of modules to show; 0 shows only the model")
      ->type_name("N");
  app.add_flag("--inference", arguments->inference,
               "Count the multiply-accumulates of evaluation instead of training. In evaluation, a frozen cache "
               "computes no gates");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  return [arguments] { return run_summary(*arguments); };
}

const Registration registered_summary({Topic::models,
                                       "summary",
                                       "Print a model's layers: shapes, parameters, multiply-accumulates",
                                       {"cachet summary vit_tiny_patch16_224 --depth 2",
                                        "cachet summary lra_text_2glu --set model.cache.kind=grc --json",
                                        "cachet summary --table paper"},
                                       declare_summary});

}  // namespace
}  // namespace cachet::app
