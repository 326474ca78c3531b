#include "cachet/train/runs/evaluation_line.h"

#include <cmath>

#include "cachet/report/format.h"
#include "cachet/report/uncertainty.h"
#include "cachet/train/step/step_meter.h"

namespace cachet::train {
namespace {

/// Of the fields, from the one that goes first to the one that stays.
struct Rank {
  enum : int { rate, time_left, loss, training_metric, other_metric, best, place, deciding_metric };
};

std::optional<double> error_of(const Metrics& metrics, const std::string& name) {
  return metrics.find(name + std::string(report::kErrorSuffix));
}

std::string measured(const RunDescription& run, const Metrics& metrics, const report::MetricDescription& metric,
                     double value) {
  if (std::isnan(value)) return "not measured";
  return report::measured_text(metric, value, error_of(metrics, metric.name), run.samples_of(metric, metrics));
}

/// "(best 82.04 % in epoch 2)", with the decimals of the last value.
std::string best_text(const report::MetricDescription& metric, const Metrics& evaluation, const BestEvaluation& best) {
  if (best.is_last) return "(best so far)";
  return "(best " + report::measured_value_text(metric, best.value, error_of(evaluation, metric.name)) +
         (best.place.in_epochs ? " in " : " at ") + best.place.word() + " " + std::to_string(best.place.number) + ")";
}

/// The metrics that an evaluation has and that are shown next to the one that decides.
std::vector<std::string> other_metrics(const RunDescription& run, const Metrics& evaluation) {
  std::vector<std::string> texts;
  for (const report::MetricDescription& metric : run.metrics) {
    if (!metric.headline || metric.decides) continue;
    const auto value = evaluation.find(metric.name);
    if (value && !std::isnan(*value)) texts.push_back(metric.title + " " + measured(run, evaluation, metric, *value));
  }
  return texts;
}

}  // namespace

std::vector<report::LineField> evaluation_fields(const RunDescription& run, const EvaluationReport& report) {
  std::vector<report::LineField> fields;
  fields.push_back(
      {report.place.word() + " " + std::to_string(report.place.number) + "/" + std::to_string(report.places),
       Rank::place});
  if (const auto loss = report.training.find("loss"))
    fields.push_back({"loss " + report::format_number(*loss, 3), Rank::loss});
  const report::MetricDescription* metric = report::deciding(run.metrics);
  const auto behind = [&](std::string text, int importance, bool joined = false) {
    fields.push_back({std::move(text), importance, /*behind=*/true, joined});
  };
  if (const auto value = metric ? report.training.find(metric->name) : std::nullopt)
    fields.push_back({"train " + report::format_value(*metric, *value, 4), Rank::training_metric});
  if (report.since_resume && !report.training.empty()) fields.push_back({"(since the resume)", Rank::training_metric});
  if (const auto value = metric ? report.evaluation.find(metric->name) : std::nullopt) {
    behind(run.words.held_out + " " + (metric->share ? "" : metric->title + " ") +
               measured(run, report.evaluation, *metric, *value),
           Rank::deciding_metric);
    if (report.best) behind(best_text(*metric, report.evaluation, *report.best), Rank::best, /*joined=*/true);
  }
  for (const std::string& text : other_metrics(run, report.evaluation)) behind(text, Rank::other_metric);
  if (report.tokens_per_second > 0)
    behind(report::format_short_count(report.tokens_per_second) + " " + token_rate_title(run), Rank::rate);
  else if (report.samples_per_second > 0)
    behind(report::format_short_count(report.samples_per_second) + " " + run.words.many + "/s", Rank::rate);
  if (report.seconds_left) behind(report::format_duration(*report.seconds_left) + " left", Rank::time_left);
  return fields;
}

std::string evaluation_result(const RunDescription& run, const Metrics& evaluation,
                              const std::optional<BestEvaluation>& best) {
  const report::MetricDescription* metric = report::deciding(run.metrics);
  const auto value = metric ? evaluation.find(metric->name) : std::nullopt;
  if (!value) return "";
  std::string text = run.words.held_out + " " + metric->title + " " + measured(run, evaluation, *metric, *value);
  if (best) text += " " + (best->is_last ? "(the best)" : best_text(*metric, evaluation, *best));
  for (const std::string& other : other_metrics(run, evaluation)) text += ", " + other;
  return text;
}

}  // namespace cachet::train
