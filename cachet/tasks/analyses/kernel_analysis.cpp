#include <algorithm>
#include <optional>

#include "cachet/analysis/plug_ins/kernel_use.h"
#include "cachet/report/format.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/result_values.h"

namespace cachet::tasks {
namespace {

report::Table attention_table(const std::string& run, const ordered_json& values, bool kernels) {
  using report::Alignment;
  report::Table table{
      "Attention: " + run,
      {{"layer"}, {"attention"}, {"entropy", Alignment::right}},
      {},
      "Measured on " + values.at("samples_text").get<std::string>() +
          ", without padding. The entropy of a query's attention weights is divided by the logarithm of the number of "
          "keys that the query sees. 0 means that one key has all the weight, 1 that all keys have the same weight."};
  if (kernels) {
    for (const char* column : {"softmax entropy", "distance", "dead features", "not orthogonal"})
      table.columns.push_back({column, Alignment::right});
    table.note +=
        " For kernel attention, the table also has the entropy of the softmax of the same queries and keys. The "
        "distance is half the sum of the absolute differences between the weights of kernel attention and of softmax "
        "attention, from 0 to 1. A feature is dead if its values never reach " +
        report::format_percent(analysis::kDeadFeature, 0) +
        " of the mean of its head. \"Not orthogonal\" is the largest ‖WWᵀ − I‖ ÷ √n of the weights W in a layer that "
        "must stay orthogonal.";
  }
  for (const ordered_json& layer : values.at("layers")) {
    const bool kernel = layer.at("attention") == "kernel";
    std::vector<report::Cell> row{layer.at("layer").get<std::string>(), layer.at("attention").get<std::string>(),
                                  report::format_fixed(number_in(layer.at("entropy")), 3)};
    if (kernel) {
      row.emplace_back(report::format_fixed(number_in(layer.at("softmax_entropy")), 3));
      row.emplace_back(report::format_fixed(number_in(layer.at("distance")), 3));
      row.emplace_back(report::format_percent(number_in(layer.at("dead"))));
      const std::vector<double> residuals = numbers_in(layer.at("orthogonality"));
      row.emplace_back(residuals.empty() ? "-" : report::format_number(*std::ranges::max_element(residuals), 3));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::HeatMap attention_map(const std::string& title, const ordered_json& weights, int64_t seed) {
  return {title,
          "key",
          "query",
          counted_names(weights.front().size()),
          counted_names(weights.size()),
          matrix_in(weights),
          0.0,
          std::nullopt,
          "The map shows the first head for one sample, chosen at random with seed " + std::to_string(seed) +
              ", without padding. If the sample has more tokens than the map has cells, each cell is a mean of "
              "neighbouring values.",
          /*square=*/true};
}

report::SmallMultiples feature_charts(const std::string& run, const ordered_json& layers) {
  report::SmallMultiples charts{"Values of φ: " + run,
                                {},
                                true,
                                "Fraction of the features' values in each bin, with four bins for each factor of ten."};
  std::vector<double> bins;
  for (int64_t bin = 0; bin < analysis::kFeatureBins; ++bin) bins.push_back(-4 + static_cast<double>(bin) / 4);
  for (const ordered_json& layer : layers)
    if (layer.at("attention") == "kernel")
      charts.charts.push_back(
          {layer.at("layer"), "log₁₀ φ", "share", {{"share", bins, numbers_in(layer.at("features"))}}});
  return charts;
}

class KernelAnalysis final : public Analysis {
 public:
  std::string_view word() const override { return "kernels"; }
  std::string_view title() const override { return "Attention and kernels"; }
  AnalysisEffort effort() const override { return AnalysisEffort::samples; }
  std::optional<std::string> lacks(const torch::nn::Module& model) const override {
    if (analysis::has_dense_attention(model)) return std::nullopt;
    return "has neither softmax nor kernel attention";
  }

  AnalysisResult measure(AnalysedRun& run, AnalysedRun*, const train::EvaluationProgress& progress) const override {
    analysis::KernelUse use(run.model(), run.seed());
    run.evaluate(use.listener(), progress);
    ordered_json layers = ordered_json::array();
    for (const auto& [path, layer] : use.layers()) {
      if (!layer.weights.defined()) continue;  // it has seen no token
      ordered_json values{{"layer", path},
                          {"attention", layer.kernel ? "kernel" : "softmax"},
                          {"entropy", layer.entropy},
                          {"weights", json_of(layer.weights)}};
      if (layer.kernel) {
        values["softmax_entropy"] = layer.softmax_entropy;
        values["distance"] = layer.distance;
        values["dead"] = layer.dead;
        values["features"] = layer.features;
        values["orthogonality"] = layer.orthogonality;
        values["softmax_weights"] = json_of(layer.softmax_weights);
      }
      layers.push_back(std::move(values));
    }
    return {ordered_json{{"samples", run.evaluation().evaluation_size()},
                         {"seed", run.seed()},
                         {"samples_text", run.samples_text()},
                         {"layers", layers}}
                .dump()};
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{std::string(title()), {}, ""};
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      const ordered_json& layers = values.at("layers");
      const auto seed = values.at("seed").get<int64_t>();
      const bool kernels =
          std::ranges::any_of(layers, [](const auto& layer) { return layer.at("attention") == "kernel"; });
      section.blocks.push_back(attention_table(result.run, values, kernels));
      if (!kernels) {
        section.note = "A model with only softmax attention has no kernels to show.";
        continue;
      }
      section.blocks.push_back(feature_charts(result.run, layers));
      for (const ordered_json& layer : layers) {
        if (layer.at("attention") != "kernel") continue;
        const std::string name = layer.at("layer").get<std::string>() + ": " + result.run;
        section.blocks.push_back(
            attention_map("Attention that the kernel implies, " + name, layer.at("weights"), seed));
        section.blocks.push_back(
            attention_map("Softmax of the same queries and keys, " + name, layer.at("softmax_weights"), seed));
      }
    }
    return section;
  }
};

}  // namespace

std::unique_ptr<Analysis> kernel_analysis() { return std::make_unique<KernelAnalysis>(); }

}  // namespace cachet::tasks
