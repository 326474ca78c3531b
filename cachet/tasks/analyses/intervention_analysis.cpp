#include <ATen/core/grad_mode.h>

#include <map>
#include <optional>

#include "cachet/analysis/plug_ins/stored_caches.h"
#include "cachet/report/metric_description.h"
#include "cachet/report/uncertainty.h"
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
    all[metric.name] = {{"title", metric.title},
                        {"form", std::string(report::to_string(metric.form))},
                        {"unit", metric.unit},
                        {"share", metric.share}};
  return all;
}

std::vector<report::MetricDescription> descriptions_in(const ordered_json& described) {
  std::vector<report::MetricDescription> metrics;
  for (const auto& [name, metric] : described.items()) {
    report::MetricDescription& one = metrics.emplace_back(report::MetricDescription{name, metric.at("title")});
    one.form = report::form_from(metric.at("form").get<std::string>());
    one.unit = metric.at("unit");
    one.share = metric.at("share");
  }
  return metrics;
}

/// The name of the loss in metrics, and of its standard error.
constexpr const char *kLoss = "loss", *kLossError = "loss_stderr";

constexpr const char* kTextOnChanges =
    " The change is the mean, over the samples, of the loss with changed caches minus the loss as trained. The "
    "number after ± is the standard error of the mean. If the loss rises by more than twice its standard error, the "
    "model uses its memory. A smaller change can be due to the choice of the samples. More samples (`--samples`) "
    "make the error smaller.";
constexpr const char* kTextOnErrors =
    " The number after ± is the standard error. A small difference can be due to the choice of the samples. More "
    "samples (`--samples`) make the error smaller.";

ordered_json change_json(const MeanLoss& change) {
  ordered_json json{{"mean", change.mean}};
  if (change.error) json["stderr"] = *change.error;
  return json;
}

std::optional<double> error_in(const ordered_json& values, const std::string& name) {
  const auto error = values.find(name);
  return error == values.end() ? std::nullopt : std::optional(number_in(*error));
}

report::Cell change_cell(const report::MetricDescription& loss, const ordered_json& row) {
  const auto change = row.find("loss_change");
  if (change == row.end()) return "–";
  const double mean = number_in(change->at("mean"));
  return {(mean > 0 ? "+" : "") + report::measured_text(loss, mean, error_in(*change, "stderr")), mean};
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
    const int64_t evaluations = beside ? 2 : 3;
    int64_t done = 0;
    std::vector<PartLoss> as_trained;
    const auto evaluate = [&](const std::string& what) {
      const AnalysedRun::RecordedEvaluation evaluation = run.evaluate_with_records(
          [&](int64_t part, int64_t parts) { progress(done * parts + part, evaluations * parts); });
      ordered_json row{{"what", what}, {"metrics", metrics_json(evaluation.metrics)}};
      const std::vector<PartLoss> losses = losses_of_records(evaluation.records);
      if (const auto error = mean_loss(losses).error; error && !row["metrics"].contains(kLossError))
        row["metrics"][kLossError] = *error;
      if (done == 0)
        as_trained = losses;
      else if (const auto change = change_of_loss(as_trained, losses))
        row["loss_change"] = change_json(*change);
      ++done;
      return row;
    };
    const auto impossible = [&](const std::string& what, const std::string& why) {
      ++done;
      rows.push_back({{"what", what}, {"impossible", why}});
    };
    if (beside) {
      const std::string what = "from " + beside->name();
      evaluate("as trained");
      if (take_caches(model, beside->model()) > 0)
        rows.push_back(evaluate(what));
      else
        impossible(what, "the other run has no cache of the same layer and shape");
    } else {
      rows.push_back(evaluate("as trained"));
      {
        const BuffersKept trained_caches(model);
        if (rotate_caches(model) > 0)
          rows.push_back(evaluate("shuffled"));
        else
          impossible("shuffled", "no two layers have caches of the same shape");
      }
      zero_caches(model);
      rows.push_back(evaluate("zeroed"));
    }
    return {ordered_json{
        {"described", described(run.evaluation().profile().metrics)},
        {"samples", run.evaluation().evaluated_samples().count},
        {"rows",
         rows}}.dump()};
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{
        std::string(title()),
        {},
        "The same evaluation with changed caches: all zero (zeroed), each layer with the cache of another layer of the "
        "same shape (shuffled), or the caches of another run."};
    bool has_changes = false;
    std::map<std::string, report::Table> tables;
    std::vector<std::string> order;
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      const auto [found, added] = tables.try_emplace(result.run);
      report::Table& table = found->second;
      const std::vector<report::MetricDescription> metrics = descriptions_in(values.at("described"));
      const auto samples = values.at("samples").get<int64_t>();
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
          cells.emplace_back(report::measured_text(metric, number_in(value),
                                                   error_in(values_of, name + std::string(report::kErrorSuffix)),
                                                   metric.share ? samples : 0),
                             number_in(value));
          if (name != kLoss || !values_of.contains(kLossError)) continue;
          has_changes = true;
          if (table.rows.empty()) table.columns.push_back({"change of the loss", report::Alignment::right});
          cells.push_back(change_cell(metric, row));
        }
        table.rows.push_back(std::move(cells));
      }
    }
    section.note += has_changes ? kTextOnChanges : kTextOnErrors;
    for (const std::string& run : order) section.blocks.push_back(std::move(tables[run]));
    return section;
  }
};

}  // namespace

std::unique_ptr<Analysis> intervention_analysis() { return std::make_unique<InterventionAnalysis>(); }

}  // namespace cachet::tasks
