#include "app/commands/cost_table.h"

#include <iostream>

#include "app/arguments/described_model.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/analysis/cost/model_summary.h"
#include "cachet/report/format.h"
#include "cachet/report/text/text_table.h"

namespace cachet::app {
namespace {

std::optional<MeasuredSpeed> speed_of(const BenchRow& row) {
  if (row.contains("error")) return std::nullopt;
  return MeasuredSpeed{row["samples_per_second"].get<double>(), 1, row["activation_bytes"].get<int64_t>(),
                       row["weight_bytes"].get<int64_t>(), row["batch"].get<int64_t>()};
}

void set_beside(std::optional<MeasuredSpeed>& speed, const std::optional<MeasuredSpeed>& first) {
  if (speed && first) speed->beside_first = speed->samples_per_second / first->samples_per_second;
}

report::Cell count_cell(int64_t count) {
  const auto value = static_cast<double>(count);
  return {report::format_count(value), value};
}

void add_cells(std::vector<report::Cell>& cells, const std::optional<MeasuredSpeed>& speed, bool beside) {
  if (!speed) {
    cells.insert(cells.end(), {"failed", "", "", ""});
    return;
  }
  cells.push_back(report::format_number(speed->samples_per_second));
  cells.push_back(beside ? report::format_number(speed->beside_first, 3) : "");
  cells.push_back(report::format_bytes(speed->activation_bytes));
  cells.push_back(report::format_bytes(speed->activation_bytes + speed->weight_bytes));
}

nlohmann::ordered_json json_of(const std::optional<MeasuredSpeed>& speed) {
  if (!speed) return nullptr;
  return {{"samples_per_second", speed->samples_per_second},
          {"beside_first", speed->beside_first},
          {"activation_bytes", speed->activation_bytes},
          {"weight_bytes", speed->weight_bytes},
          {"memory_bytes", speed->activation_bytes + speed->weight_bytes},
          {"batch", speed->batch}};
}

void print_cost_json(const std::vector<CostRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CostRow& row : rows)
    list.push_back({{"model", row.model},
                    {"parameters", row.parameters},
                    {"macs", macs_json(row.macs)},
                    {"inference", json_of(row.inference)},
                    {"training", json_of(row.training)}});
  const nlohmann::ordered_json json{{"schema", kSchema}, {"table", "cost"}, {"rows", list}};
  print_json(json);
}

}  // namespace

std::vector<CostRow> cost_rows(const std::vector<BenchCase>& cases, const std::vector<BenchRow>& rows) {
  std::vector<CostRow> table;
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool inference = cases[i].options.mode == analysis::BenchmarkMode::inference;
    if (inference) {  // each model's first
      const auto summary = analysis::summarize(read_described_model(cases[i].model), analysis::Pass::training, 0);
      table.push_back({cases[i].model.name, summary.parameters, summary.macs, std::nullopt, std::nullopt});
    }
    (inference ? table.back().inference : table.back().training) = speed_of(rows[i]);
  }
  for (CostRow& row : table) {
    set_beside(row.inference, table.front().inference);
    set_beside(row.training, table.front().training);
  }
  return table;
}

void show_cost_table(const std::vector<CostRow>& rows, const CostTableForm& form) {
  if (form.json) return print_cost_json(rows);
  using report::Alignment;
  report::Table table;
  table.columns = {{"model"},
                   {"parameters", Alignment::right},
                   {"linear + conv MACs (training)", Alignment::right},
                   {"attention MACs (training)", Alignment::right},
                   {"weights", Alignment::right},
                   {"inference, samples/s", Alignment::right},
                   {"compared with the first", Alignment::right},
                   {"activations", Alignment::right},
                   {"activations + weights", Alignment::right},
                   {"training, samples/s", Alignment::right},
                   {"compared with the first", Alignment::right},
                   {"activations", Alignment::right},
                   {"activations + weights", Alignment::right}};
  for (const CostRow& row : rows) {
    std::vector<report::Cell> cells{row.model, count_cell(row.parameters), count_cell(row.macs.linear_convolution),
                                    count_cell(row.macs.attention)};
    const auto& measured = row.inference ? row.inference : row.training;
    cells.push_back(measured ? report::format_bytes(measured->weight_bytes) : "");
    const bool beside = &row != &rows.front();
    add_cells(cells, row.inference, beside && rows.front().inference);
    add_cells(cells, row.training, beside && rows.front().training);
    table.rows.push_back(std::move(cells));
  }
  std::cout << report::text_table(table, printed_form(form.wide));
}

}  // namespace cachet::app
