#include <ATen/ops/adaptive_avg_pool2d.h>

#include <algorithm>
#include <cmath>

#include "cachet/analysis/plug_ins/memory_attention.h"
#include "cachet/analysis/plug_ins/memory_use.h"
#include "cachet/analysis/plug_ins/observations.h"
#include "cachet/analysis/plug_ins/stored_caches.h"
#include "cachet/report/format.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/result_values.h"
#include "cachet/tasks/plug_in_series.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kShownPlaces = 48;  // of a cache: where it has more, means of neighbours are drawn

// σ(λ) as the run logged it, a curve for each head. If a step and its evaluation both logged it, it counts once.
ordered_json shares_over_steps(const SavedRun& saved) {
  ordered_json layers = ordered_json::object();
  if (!train::is_run_folder(saved.run)) return layers;
  const auto add = [&](int64_t step, const std::string& name, const std::vector<double>& shares) {
    ordered_json& layer = layers[name];
    if (!layer["steps"].empty() && layer["steps"].back() == step) return;
    layer["steps"].push_back(step);
    layer["shares"].push_back(shares);
  };
  each_series(train::read_events(train::RunFolder::open(saved.run).metrics()), kShareSeries, add);
  return layers;
}

ordered_json places_json(const torch::nn::Module& model) {
  ordered_json caches = ordered_json::array();
  for (const analysis::StoredCache& cache : analysis::stored_caches(model)) {
    const at::Tensor similarity = analysis::similarity_of_places(cache.tokens);
    const int64_t shown = std::min(kShownPlaces, similarity.size(0));
    const at::Tensor map = at::adaptive_avg_pool2d(similarity.unsqueeze(0), {shown, shown})[0];
    caches.push_back({{"layer", cache.layer},
                      {"places", cache.tokens.size(1)},
                      {"channels", cache.tokens.size(2)},
                      {"mean_similarity", analysis::mean_similarity(similarity)},
                      {"similarity", json_of(map)}});
  }
  return caches;
}

report::SmallMultiples share_curves(const std::string& run, const ordered_json& values) {
  report::SmallMultiples curves{"σ(λ) over steps: " + run, {}, true, ""};
  for (const auto& [layer, logged] : values.at("shares_over_steps").items()) {
    report::LineChart chart{layer, "step", "σ(λ)"};
    curves.note = marked_step(values, chart);
    const std::vector<double> steps = numbers_in(logged.at("steps"));
    for (size_t head = 0; head < logged.at("shares").at(0).size(); ++head) {
      report::Series series{"head " + std::to_string(head), steps, {}};
      for (const ordered_json& shares : logged.at("shares"))
        series.y.push_back(head < shares.size() ? number_in(shares[head]) : std::nan(""));
      chart.series.push_back(std::move(series));
    }
    curves.charts.push_back(std::move(chart));
  }
  return curves;
}

report::HeatMap head_map(const std::string& title, const ordered_json& layers, const char* what, const char* note) {
  report::HeatMap map{title, "head", "layer", {}, {}, {}, 0.0, std::nullopt, note};
  size_t heads = 0;
  for (const ordered_json& layer : layers) heads = std::max(heads, layer.at(what).size());
  map.columns = counted_names(heads);
  for (const ordered_json& layer : layers) {
    map.rows.push_back(layer.at("layer"));
    std::vector<double> row = numbers_in(layer.at(what));
    row.resize(heads, std::nan(""));
    map.values.insert(map.values.end(), row.begin(), row.end());
  }
  return map;
}

report::Table activation_table(const std::string& run, const ordered_json& layers) {
  using report::Alignment;
  report::Table table{"Activations: " + run,
                      {{"layer"},
                       {"o_self", Alignment::right},
                       {"o_mem", Alignment::right},
                       {"mixture", Alignment::right},
                       {"memory's part", Alignment::right}},
                      {},
                      "o_self is the output of self-attention, o_mem is the output of memory attention, and o is their "
                      "mixture. The values are means of absolute values over tokens and channels. The memory's part is "
                      "‖σ(λ)·o_mem‖ ÷ ‖o‖ over all heads."};
  for (const ordered_json& layer : layers) {
    std::vector<report::Cell> row{layer.at("layer").get<std::string>()};
    for (const char* name : {"self_activation", "memory_activation", "mixture_activation", "contribution"})
      row.emplace_back(report::format_number(number_in(layer[name]), 3), number_in(layer[name]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The contribution of memory attention, for layers that have it.
void add_memory_use(report::Section& section, const std::string& run, const ordered_json& layers) {
  section.blocks.push_back(head_map("σ(λ): " + run, layers, "shares",
                                    "The weight of memory attention in a head. 0 means self-attention only."));
  section.blocks.push_back(
      head_map("‖σ(λ)·o_mem‖ ÷ ‖o‖: " + run, layers, "contributions",
               "The norm of memory attention's contribution to a head's output, divided by the norm of this output."));
  section.blocks.push_back(activation_table(run, layers));
}

class CacheAnalysis final : public Analysis {
 public:
  std::string_view word() const override { return "caches"; }
  std::string_view title() const override { return "Caches"; }
  AnalysisEffort effort() const override { return AnalysisEffort::samples; }
  std::optional<std::string> lacks(const torch::nn::Module& model) const override {
    if (!analysis::cache_shares(model).empty() || analysis::has_concatenated_cache(model)) return std::nullopt;
    return "has no cache";
  }

  AnalysisResult measure(AnalysedRun& run, AnalysedRun*, const train::EvaluationProgress& progress) const override {
    analysis::MemoryUse use;
    analysis::MemoryAttention attention;
    // A model has one kind of cache.
    const bool concatenated = analysis::has_concatenated_cache(run.model());
    run.evaluate(concatenated ? attention.listener() : use.listener(), progress);
    ordered_json layers = ordered_json::array();
    for (const auto& [path, layer] : use.layers())
      layers.push_back({{"layer", path},
                        {"shares", layer.shares},
                        {"contributions", layer.contributions},
                        {"contribution", layer.contribution},
                        {"self_activation", layer.self_activation},
                        {"memory_activation", layer.memory_activation},
                        {"mixture_activation", layer.mixture_activation}});
    ordered_json fractions = ordered_json::array();
    for (const auto& [path, heads] : attention.layers()) fractions.push_back({{"layer", path}, {"fractions", heads}});
    return {ordered_json{{"step", step_json(run.step())},
                         {"layers", layers},
                         {"memory_attention", fractions},
                         {"caches", places_json(run.model())},
                         {"shares_over_steps", shares_over_steps(run.saved())}}
                .dump()};
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{
        std::string(title()), {}, "The contribution of memory attention, and the contents of the caches."};
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      const ordered_json& layers = values.at("layers");
      if (const auto fractions = values.find("memory_attention"); fractions != values.end() && !fractions->empty())
        section.blocks.push_back(
            head_map("Attention on the memory: " + result.run, *fractions, "fractions",
                     "The fraction of a head's attention that goes to the concatenated cache: the sum of the "
                     "attention weights, averaged over queries. 0 means that only the layer's own tokens get "
                     "attention."));
      if (!layers.empty()) add_memory_use(section, result.run, layers);
      if (!values.at("shares_over_steps").empty()) section.blocks.push_back(share_curves(result.run, values));
      for (const ordered_json& cache : values.at("caches")) {
        const auto shown = static_cast<size_t>(cache.at("similarity").size());
        section.blocks.push_back(
            similarity_map({"Slots of " + cache.at("layer").get<std::string>() + ": " + result.run,
                            "slot",
                            "slot",
                            counted_names(shown),
                            counted_names(shown),
                            matrix_in(cache.at("similarity")),
                            {},
                            {},
                            "Cosine similarity of each pair of slots. The mean over pairs of different slots is " +
                                report::format_fixed(number_in(cache.at("mean_similarity")), 3) + "."},
                           SimilarityOf::one_set));
      }
    }
    return section;
  }
};

}  // namespace

std::unique_ptr<Analysis> cache_analysis() { return std::make_unique<CacheAnalysis>(); }

}  // namespace cachet::tasks
