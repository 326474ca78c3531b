#include "cachet/tasks/compared_run.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cachet/analysis/model_summary.h"
#include "cachet/report/format.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/run_curves.h"
#include "cachet/train/run_folder.h"

namespace cachet::tasks {
namespace {

using report::Better;
using report::Metric;
using train::Event;

constexpr const char* kTop1 = "top-1";

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void add_evaluation(const std::vector<Event>& events, ComparedResult& result) {
  const auto top1 = curve(events, Event::Kind::evaluation, "top1", "test").y;
  const auto error = curve(events, Event::Kind::evaluation, "top1_stderr", "").y;
  const auto top5 = curve(events, Event::Kind::evaluation, "top5", "").y;
  const auto loss = curve(events, Event::Kind::evaluation, "loss", "").y;
  report::ComparedRun& run = result.shown;
  if (!top1.empty()) {
    result.top1 = top1.back();
    if (!error.empty()) result.top1_stderr = error.back();
    run.metrics.push_back(accuracy_metric(kTop1, top1.back(), error.empty() ? 0 : error.back()));
    run.metrics.push_back(accuracy_metric("best top-1", *std::ranges::max_element(top1)));
  }
  if (!top5.empty()) run.metrics.push_back(accuracy_metric("top-5", top5.back()));
  if (!loss.empty())
    run.metrics.push_back({"loss", {report::format_fixed(loss.back(), 3), loss.back()}, Better::lower});
}

void add_model(const models::ImageClassifierPlan& plan, report::ComparedRun& run) {
  const auto summary = analysis::summarize(plan, analysis::Pass::inference, /*depth=*/0);
  const auto count = [](int64_t value) {
    return report::Cell(report::format_count(static_cast<double>(value)), static_cast<double>(value));
  };
  run.metrics.push_back({"parameters", count(summary.parameters)});
  run.metrics.push_back({"MACs", count(summary.macs.linear_convolution)});
  run.metrics.push_back({"attention MACs", count(summary.macs.attention)});
}

void add_speed(const std::vector<Event>& events, report::ComparedRun& run) {
  const auto rates = curve(events, Event::Kind::step, "samples_per_second", "").y;
  const auto seconds = curve(events, Event::Kind::step, "seconds", "").y;
  if (rates.empty() || seconds.empty()) return;
  const double rate = median(rates);
  run.metrics.push_back({"training images/s", {report::format_number(rate, 3), rate}, Better::higher});
  run.metrics.push_back({"training time", {report::format_duration(seconds.back()), seconds.back()}, Better::lower});
}

void add_unified_norm(const std::vector<Event>& events, report::ComparedRun& run) {
  const UnifiedNormUse use = unified_norm_use(events);
  if (use.layers == 0) return;
  const std::string of = " of " + report::format_number(use.steps, 6);
  run.metrics.push_back({"UN steps on window", {report::format_fixed(use.on_window, 0) + of, use.on_window}});
  run.metrics.push_back(
      {"UN filtered",
       {report::format_number(use.filtered, 6) + " in " + std::to_string(use.layers) + " layers", use.filtered}});
}

void add_curves(const std::vector<Event>& events, report::ComparedRun& run) {
  const auto add = [&](const std::string& chart, const std::string& unit, Event::Kind kind, const std::string& metric,
                       const std::string& name) {
    report::Series series = curve(events, kind, metric, name);
    if (!series.x.empty()) run.curves.push_back({chart, "step", unit, std::move(series)});
  };
  add("Accuracy on the test images", "top-1", Event::Kind::evaluation, "top1", "test");
  add("Loss on the test images", "loss", Event::Kind::evaluation, "loss", "test");
  add("Training loss", "loss", Event::Kind::step, "loss", "training");
  add("Learning rate", "rate", Event::Kind::step, "lr", "rate");
  add("Gradient norm", "norm", Event::Kind::step, "grad_norm", "norm");
}

std::string recipe_without_seed(const report::ComparedRun& run) {
  std::string text;
  for (const auto& [key, value] : run.recipe)
    if (key != "train.seed") text += key + "=" + value + "\n";
  return text;
}

}  // namespace

Metric accuracy_metric(const std::string& name, double value, double error) {
  const std::string spread = error > 0 ? " ± " + report::format_percent(error) : "";
  return {name, {report::format_percent(value) + spread, value}, Better::higher};
}

ComparedResult compared_run(const std::filesystem::path& path) {
  const train::RunFolder folder = train::RunFolder::open(path);
  config::Document document = config::Document::from_file(folder.resolved());
  const RecipePlan plan = read_recipe(document);
  ComparedResult result;
  report::ComparedRun& run = result.shown;
  run.name = (folder.path().has_filename() ? folder.path() : folder.path().parent_path()).filename().string();
  for (const auto& value : document.resolved()) run.recipe.emplace_back(value.key, value.toml);
  const std::vector<Event> events = train::read_events(folder.metrics());
  add_evaluation(events, result);
  add_model(plan.images.model, run);
  add_speed(events, run);
  add_unified_norm(events, run);
  add_curves(events, run);
  return result;
}

std::vector<ComparedResult> seed_averages(const std::vector<ComparedResult>& results) {
  std::map<std::string, std::vector<const ComparedResult*>> groups;
  for (const ComparedResult& result : results)
    if (!result.shown.recipe.empty() && std::isfinite(result.top1))
      groups[recipe_without_seed(result.shown)].push_back(&result);
  std::vector<ComparedResult> averages;
  for (const auto& [recipe, group] : groups) {
    if (group.size() < 2) continue;
    const auto count = static_cast<double>(group.size());
    double sum = 0, squares = 0;
    for (const ComparedResult* result : group) sum += result->top1;
    for (const ComparedResult* result : group) squares += std::pow(result->top1 - sum / count, 2);
    ComparedResult average{{}, sum / count, std::sqrt(squares / (count - 1))};
    average.shown.name = "mean of " + std::to_string(group.size()) + " seeds: " + group.front()->shown.name;
    average.shown.metrics.push_back(accuracy_metric(kTop1, average.top1, average.top1_stderr));
    averages.push_back(std::move(average));
  }
  return averages;
}

std::string accuracy_differences(const std::vector<ComparedResult>& results) {
  std::string text;
  const ComparedResult* first = nullptr;
  for (const ComparedResult& result : results) {
    if (!std::isfinite(result.top1_stderr)) continue;
    if (!first) {
      first = &result;
      continue;
    }
    const double gap = result.top1 - first->top1, spread = std::hypot(result.top1_stderr, first->top1_stderr);
    text += (text.empty() ? "" : " ") + result.shown.name + " is " + report::format_fixed(100 * std::abs(gap), 1) +
            " points " + (gap < 0 ? "below " : "above ") + first->shown.name + ", " +
            (std::abs(gap) > 2 * spread ? "more" : "no more") + " than twice the standard error of " +
            report::format_fixed(100 * spread, 1) + ".";
  }
  return text;
}

}  // namespace cachet::tasks
