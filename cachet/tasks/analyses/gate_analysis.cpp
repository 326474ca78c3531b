#include <cmath>
#include <optional>

#include "cachet/analysis/plug_ins/cache_drift.h"
#include "cachet/analysis/plug_ins/gate_use.h"
#include "cachet/report/format.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/result_values.h"

namespace cachet::tasks {
namespace {

ordered_json gate_json(const analysis::GateUse::Gate& gate) {
  return {{"mean", gate.mean}, {"shut", gate.shut}, {"open", gate.open}};
}

report::Table gate_table(const std::string& run, const ordered_json& gates) {
  using report::Alignment;
  report::Table table{"Gates: " + run,
                      {{"cache"}},
                      {},
                      "Statistics over the replayed training steps. A gate is shut for values below " +
                          report::format_number(analysis::kGateShut) + " and open for values above " +
                          report::format_number(analysis::kGateOpen) +
                          ". The columns shut and open are fractions of the values of a gate."};
  for (const char* gate : {"r", "u"})
    for (const char* what : {"mean", "shut", "open"})
      table.columns.push_back({std::string(gate) + " " + what, Alignment::right});
  for (const ordered_json& layer : gates) {
    std::vector<report::Cell> row{layer.at("layer").get<std::string>()};
    for (const char* gate : {"reset", "update"}) {
      row.emplace_back(report::format_fixed(number_in(layer.at(gate).at("mean")), 3));
      row.emplace_back(report::format_percent(number_in(layer.at(gate).at("shut"))));
      row.emplace_back(report::format_percent(number_in(layer.at(gate).at("open"))));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

class GateAnalysis final : public Analysis {
 public:
  std::string_view word() const override { return "gates"; }
  std::string_view title() const override { return "Gates and drift"; }
  AnalysisEffort effort() const override { return AnalysisEffort::steps; }
  std::optional<std::string> lacks(const torch::nn::Module& model) const override {
    if (!analysis::stored_caches(model).empty()) return std::nullopt;
    return "has no cache";
  }

  AnalysisResult measure(AnalysedRun& run, AnalysedRun*, const train::EvaluationProgress& progress) const override {
    analysis::GateUse use;
    std::optional<analysis::CacheDrift> drift;
    run.replay(
        [&](torch::nn::Module& model) {
          drift.emplace(model);
          return AnalysedRun::Replay{use.listener(), [&] { drift->step(); }};
        },
        progress);
    ordered_json gates = ordered_json::array(), moved = ordered_json::array();
    for (const auto& [path, layer] : use.layers())
      gates.push_back({{"layer", path}, {"reset", gate_json(layer.reset)}, {"update", gate_json(layer.update)}});
    for (const auto& layer : drift->layers()) moved.push_back({{"layer", layer.layer}, {"drift", layer.steps}});
    return {ordered_json{{"gates", gates}, {"drift", moved}}.dump()};
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{
        std::string(title()),
        {},
        "The gates of the caches, and the change of the caches from step to step, measured in training steps "
        "that were replayed without updating the weights."};
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      if (!values.at("gates").empty()) section.blocks.push_back(gate_table(result.run, values.at("gates")));
      report::LineChart drift{"‖C_t − C_{t−1}‖ ÷ ‖C_t‖: " + result.run, "replayed step", "drift"};
      drift.y_from_zero = true;
      drift.note =
          "0 means that the cache does not change. If each session has its own cache (`scope = \"lane\"`), the caches "
          "are not stored, and the drift is 0.";
      for (const ordered_json& layer : values.at("drift"))
        drift.series.push_back(
            {layer.at("layer"), counted_steps(layer.at("drift").size()), numbers_in(layer.at("drift"))});
      section.blocks.push_back(std::move(drift));
    }
    return section;
  }
};

}  // namespace

std::unique_ptr<Analysis> gate_analysis() { return std::make_unique<GateAnalysis>(); }

}  // namespace cachet::tasks
