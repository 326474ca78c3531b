#include <ATen/core/grad_mode.h>

#include <map>

#include "cachet/analysis/plug_ins/stored_caches.h"
#include "cachet/report/metric_description.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/cache_interventions.h"
#include "cachet/tasks/analyses/result_values.h"

namespace cachet::tasks {
namespace {

ordered_json metrics_json(const train::Metrics& metrics) {
  ordered_json values = ordered_json::object();
  for (const auto& [name, value] : metrics) values[name] = value;
  return values;
}

ordered_json described(const std::vector<report::MetricDescription>& metrics) {
  ordered_json all = ordered_json::object();
  for (const report::MetricDescription& metric : metrics)
    all[metric.name] = {{"title", metric.title}, {"form", std::string(report::to_string(metric.form))}};
  return all;
}

class InterventionAnalysis final : public Analysis {
 public:
  std::string_view word() const override { return "interventions"; }
  std::string_view title() const override { return "Interventions on caches"; }
  AnalysisEffort effort() const override { return AnalysisEffort::samples; }
  std::optional<std::string> lacks(const torch::nn::Module& model) const override {
    if (!analysis::stored_caches(model).empty()) return std::nullopt;
    return "has no cache";
  }

  std::vector<AnalysisJob> jobs(size_t runs) const override {
    std::vector<AnalysisJob> all;
    for (size_t run = 0; run < runs; ++run) {
      all.push_back({run, std::nullopt});
      for (size_t other = 0; other < runs; ++other)
        if (other != run) all.push_back({run, other});
    }
    return all;
  }

  double passes(const AnalysedRun& run) const override { return 3 * Analysis::passes(run); }

  AnalysisResult measure(AnalysedRun& run, AnalysedRun* beside,
                         const train::EvaluationProgress& progress) const override {
    const at::NoGradGuard no_grad;
    torch::nn::Module& model = run.model();
    const BuffersKept kept(model);
    ordered_json rows = ordered_json::array();
    const int64_t evaluations = beside ? 1 : 3;
    int64_t done = 0;
    const auto evaluate = [&](const std::string& what) {
      const train::Metrics metrics = run.evaluate(
          nullptr, [&](int64_t batch, int64_t batches) { progress(done * batches + batch, evaluations * batches); });
      ++done;
      rows.push_back({{"what", what}, {"metrics", metrics_json(metrics)}});
    };
    const auto impossible = [&](const std::string& what, const std::string& why) {
      ++done;
      rows.push_back({{"what", what}, {"impossible", why}});
    };
    if (beside) {
      const std::string what = "from " + beside->name();
      if (take_caches(model, beside->model()) > 0)
        evaluate(what);
      else
        impossible(what, "the other run has no cache of the same layer and shape");
    } else {
      evaluate("as trained");
      {
        const BuffersKept as_trained(model);
        if (rotate_caches(model) > 0)
          evaluate("shuffled");
        else
          impossible("shuffled", "no two layers have caches of the same shape");
      }
      zero_caches(model);
      evaluate("zeroed");
    }
    return {ordered_json{{"described", described(run.evaluation().profile().metrics)}, {"rows", rows}}.dump()};
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{
        std::string(title()),
        {},
        "The same evaluation with changed caches: all zero (zeroed), each layer with the cache of another layer of the "
        "same shape (shuffled), or the caches of another run. If the model uses its memory, the results with changed "
        "caches are worse than the results with the trained caches."};
    std::map<std::string, report::Table> tables;
    std::vector<std::string> order;
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      const auto [found, added] = tables.try_emplace(result.run);
      report::Table& table = found->second;
      std::vector<report::MetricDescription> metrics;
      for (const auto& [name, metric] : values.at("described").items())
        metrics.push_back({name, metric.at("title"), report::form_from(metric.at("form").get<std::string>())});
      if (added) {
        order.push_back(result.run);
        table.title = result.run;
        table.columns = {{"caches"}};
      }
      for (const ordered_json& row : values.at("rows")) {
        std::vector<report::Cell> cells{row.at("what").get<std::string>()};
        if (row.contains("impossible")) {
          table.note += (table.note.empty() ? "" : " ") + row.at("what").get<std::string>() +
                        ": not measured, because " + row.at("impossible").get<std::string>() + ".";
          continue;
        }
        const ordered_json& values_of = row.at("metrics");
        for (const auto& [name, value] : values_of.items()) {
          if (name.ends_with(report::kErrorSuffix)) continue;
          const report::MetricDescription metric = report::description_of(metrics, name);
          if (table.rows.empty()) table.columns.push_back({metric.title, report::Alignment::right});
          std::string text = report::format_value(metric, number_in(value));
          if (const auto error = values_of.find(name + std::string(report::kErrorSuffix)); error != values_of.end())
            text += " ± " + report::format_value(metric, number_in(*error));
          cells.emplace_back(std::move(text), number_in(value));
        }
        table.rows.push_back(std::move(cells));
      }
    }
    for (const std::string& run : order) section.blocks.push_back(std::move(tables[run]));
    return section;
  }
};

}  // namespace

std::unique_ptr<Analysis> intervention_analysis() { return std::make_unique<InterventionAnalysis>(); }

}  // namespace cachet::tasks
