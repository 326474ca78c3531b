#include "app/published_table.h"

#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <vector>

#include "app/json.h"
#include "app/text_output.h"
#include "cachet/analysis/published_counts.h"
#include "cachet/report/text_table.h"

namespace cachet::app {
namespace {

struct CountedRow {
  analysis::PublishedCount published;
  analysis::ModelSummary summary;
};

std::vector<CountedRow> counted_rows() {
  std::vector<CountedRow> rows;
  for (const auto& published : analysis::published_counts())
    rows.push_back({published, analysis::summarize(analysis::plan_of(published), analysis::Pass::training, 0)});
  return rows;
}

std::string fixed(std::optional<double> value, int digits) {
  if (!value) return "–";
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << *value;
  return text.str();
}

void print_published(const std::vector<CountedRow>& rows, bool wide) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"model"},
                   {"cache ratio", Alignment::right},
                   {"parameters, M", Alignment::right},
                   {"published", Alignment::right},
                   {"MACs (training), G", Alignment::right},
                   {"published code", Alignment::right},
                   {"paper", Alignment::right}};
  for (const auto& [published, summary] : rows)
    table.rows.push_back({published.model, published.cache_ratio ? published.cache_ratio : "–",
                          fixed(static_cast<double>(summary.parameters) / 1e6, 3), fixed(published.parameters, 3),
                          fixed(static_cast<double>(summary.macs.linear_convolution) / 1e9, 3),
                          fixed(published.code_macs, 3), fixed(published.paper_macs, 2)});
  const report::TextForm form = printed_form(wide);
  std::cout << report::text_paragraph(
                   "Cached Transformers (arXiv 2312.12742), Tables 9 and 10, one image of 3 x 224 x 224", form)
            << '\n'
            << report::text_table(table, form) << '\n'
            << report::text_paragraph(
                   "MACs are those of linear layers and convolutions. The paper's plain models count "
                   "a little more than their code holds.",
                   form);
}

nlohmann::ordered_json published_json(const std::vector<CountedRow>& rows) {
  const auto number = [](std::optional<double> value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [published, summary] : rows)
    list.push_back({{"model", published.model},
                    {"cache_ratio", published.cache_ratio ? nlohmann::ordered_json(std::stod(published.cache_ratio))
                                                          : nlohmann::ordered_json()},
                    {"parameters", summary.parameters},
                    {"macs", macs_json(summary.macs)},
                    {"published",
                     {{"parameters_millions", number(published.parameters)},
                      {"code_macs_billions", number(published.code_macs)},
                      {"paper_macs_billions", number(published.paper_macs)}}}});
  return {{"schema", kSchema}, {"table", "paper"}, {"rows", list}};
}

}  // namespace

void show_published_counts(bool json, bool wide) {
  if (json)
    print_json(published_json(counted_rows()));
  else
    print_published(counted_rows(), wide);
}

}  // namespace cachet::app
