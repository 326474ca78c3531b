#include "app/commands/published_table.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/analysis/cost/published_counts.h"
#include "cachet/report/text/text_table.h"

namespace cachet::app {
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

const char* word(CountedCache cache) {
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
    table.rows.push_back({published.model, word(published.cache), published.cache_ratio ? published.cache_ratio : "–",
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
    table.rows.push_back({row.published.model, word(row.published.cache), percent(more->parameters),
                          percent(more->training_macs), percent(more->evaluation_macs), percent(more->paper_macs)});
  }
  return table;
}

void print_published(const std::vector<CountedRow>& rows, bool wide) {
  const report::TextForm form = printed_form(wide);
  const auto paragraph = [&](const char* text) { std::cout << report::text_paragraph(text, form) << '\n'; };
  paragraph("Cached Transformers (arXiv 2312.12742), Tables 9 and 10, one image of 3 x 224 x 224");
  std::cout << report::text_table(count_table(rows), form) << '\n';
  paragraph(
      "MACs are those of linear layers and convolutions. The paper's plain models count a little more than their code "
      "has. Its cached ones have the positional convolution and do not pool, although the appendix pools by 4 and 2.");
  std::cout << '\n';
  paragraph("What a cache of ratio 0.5 adds; the paper says 10 to 15 % more FLOPs and parameters");
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
                    {"cache", published.cache == CountedCache::none ? Json() : Json(word(published.cache))},
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

}  // namespace cachet::app
