#include "cachet/tasks/classification_report.h"

#include <algorithm>
#include <map>

#include "cachet/io/read_file.h"
#include "cachet/report/format.h"
#include "cachet/tasks/run_curves.h"
#include "cachet/tasks/series_names.h"
#include "cachet/train/environment.h"
#include "cachet/train/event_log.h"

namespace cachet::tasks {
namespace {

using report::Series;
using train::Event;

constexpr uint64_t kMostRecipeBytes = 1 << 20;

void add_curve(std::vector<Series>& curves, Series series) {
  if (!series.x.empty()) curves.push_back(std::move(series));
}

// σ(λ): a chart a layer, a line a head. The events name the layers in the order of the model.
void add_shares(const std::vector<Event>& events, report::ClassificationRun& run) {
  std::map<std::string, size_t> index;
  for (const Event& event : events)
    for (const auto& series : event.series) {
      if (!series.name.starts_with(kShareSeries)) continue;
      const auto [found, added] = index.emplace(series.name, run.cache_shares.size());
      if (added) {
        run.cache_shares.push_back({series.name.substr(kShareSeries.size()), {}});
        for (size_t head = 0; head < series.values.size(); ++head)
          run.cache_shares.back().heads.push_back({"head " + std::to_string(head), {}, {}});
      }
      auto& heads = run.cache_shares[found->second].heads;
      for (size_t head = 0; head < std::min(heads.size(), series.values.size()); ++head) {
        heads[head].x.push_back(static_cast<double>(event.step));
        heads[head].y.push_back(series.values[head]);
      }
    }
}

// Steps of unified normalization, as [training steps, on window statistics, filtered].
void add_window_statistics(const std::vector<Event>& events, report::ClassificationRun& run) {
  std::map<std::string, size_t> index;
  for (const Event& event : events)
    for (const auto& series : event.series) {
      if (!series.name.starts_with(kUnifiedNormSeries) || series.values.size() != 3) continue;
      const auto [found, added] = index.emplace(series.name, run.window_statistics.size());
      if (added) run.window_statistics.push_back({series.name.substr(kUnifiedNormSeries.size()), {}, {}});
      auto& layer = run.window_statistics[found->second];
      for (auto& [curve, value] : {std::pair<Series&, double>(layer.window, series.values[1]),
                                   std::pair<Series&, double>(layer.filtered, series.values[2])}) {
        curve.x.push_back(static_cast<double>(event.step));
        curve.y.push_back(value);
      }
    }
}

report::Status status_of(const train::Status& status) {
  if (status.running) return report::Status::running;
  switch (status.ending) {
    case train::Ending::interrupted:
      return report::Status::interrupted;
    case train::Ending::not_finite:
    case train::Ending::failed:
      return report::Status::failed;
    default:
      return report::Status::finished;
  }
}

void add_curves(const std::vector<Event>& events, const train::SampleWords& words, report::ClassificationRun& run) {
  const auto step = Event::Kind::step, evaluation = Event::Kind::evaluation;
  add_curve(run.loss, curve(events, step, "loss", "training"));
  add_curve(run.loss, curve(events, evaluation, "loss", words.held_out));
  add_curve(run.accuracy, curve(events, step, "top1", "training"));
  add_curve(run.accuracy, curve(events, evaluation, "top1", words.held_out));
  add_curve(run.learning_rate, curve(events, step, "lr", "learning rate"));
  add_curve(run.gradient_norm, curve(events, step, "grad_norm", "gradient norm"));
  add_curve(run.throughput, curve(events, step, "tokens_per_second", "tokens/s"));
  run.throughput_unit = run.throughput.empty() ? words.many + "/s" : "tokens/s";
  if (run.throughput.empty()) add_curve(run.throughput, curve(events, step, "samples_per_second", run.throughput_unit));
  add_curve(run.data_wait, curve(events, step, "data_wait", "waiting for data"));
}

void add_facts(const train::Status& status, const DescribedModel& model, const std::vector<Event>& events,
               const train::SampleWords& words, report::ClassificationRun& run) {
  const Series top1 = curve(events, Event::Kind::evaluation, "top1", "");
  const Series error = curve(events, Event::Kind::evaluation, "top1_stderr", "");
  if (!top1.y.empty()) {
    const std::string spread = error.y.empty() ? "" : " ± " + report::format_percent(error.y.back());
    run.facts.push_back(
        {"Top-1", report::format_percent(top1.y.back()), "of the " + words.held_out + " " + words.many + spread});
    const double best = *std::max_element(top1.y.begin(), top1.y.end());
    run.facts.push_back({"Best top-1", report::format_percent(best), ""});
  }
  run.facts.push_back({"Parameters", report::format_count(static_cast<double>(model.summary.parameters)), ""});
  run.facts.push_back({"MACs", report::format_count(static_cast<double>(model.summary.macs.linear_convolution)),
                       "linear and convolution, for one " + words.one});
  run.facts.push_back({"Epoch", std::to_string(status.epoch) + " of " + std::to_string(status.epochs),
                       "step " + std::to_string(status.step) + " of " + std::to_string(status.total_steps)});
}

}  // namespace

report::ClassificationRun classification_run(const train::RunFolder& folder, const train::Status& status,
                                             const DescribedModel& model, const ClassificationEvaluation& evaluation,
                                             const std::vector<std::string>& class_names,
                                             const train::SampleWords& words) {
  const std::vector<Event> events = train::read_events(folder.metrics());
  report::ClassificationRun run;
  run.name = folder.path().filename().string();
  run.subtitle = model.name;
  run.status = status_of(status);
  run.status_detail = status.message;
  add_facts(status, model, events, words, run);
  add_curves(events, words, run);
  add_shares(events, run);
  add_window_statistics(events, run);
  if (!evaluation.confusion.empty())
    run.confusion = {
        "", class_names, evaluation.confusion,
        "The last evaluation, " + std::to_string(evaluation.samples) + " " + words.held_out + " " + words.many + ".",
        words.many};
  run.recipe = io::read_text_file(folder.recipe(), kMostRecipeBytes);
  for (const train::EnvironmentEntry& entry : train::entries(train::environment()))
    run.environment.emplace_back(entry.key, entry.text());
  run.footer = "Cachet " + train::cachet_version();
  return run;
}

}  // namespace cachet::tasks
