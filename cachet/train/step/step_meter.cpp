#include "cachet/train/step/step_meter.h"

#include <algorithm>

#include "cachet/report/format.h"
#include "cachet/report/uncertainty.h"
#include "cachet/train/machine/clock.h"
#include "cachet/train/machine/memory_limit.h"

namespace cachet::train {
namespace {

constexpr const char* kTokenRate = "tokens_per_second";

/// As closely as lines that follow each other need it: a loss with four digits.
std::string value_text(report::MetricDescription metric, double value) {
  if (metric.form == report::ValueForm::fixed) metric.form = report::ValueForm::number;
  return report::format_value(metric, value, 4);
}

/// "loss 0.5123", "top-1 86.21 ± 0.83 %": a metric, with its standard error where there is one.
std::string metric_text(const RunDescription& run, const Metrics& metrics, const std::string& name, double value) {
  const auto& own = trainer_metrics();
  const bool is_own = std::ranges::find(own, name, &report::MetricDescription::name) != own.end();
  const report::MetricDescription metric = report::description_of(is_own ? own : run.metrics, name);
  const auto error = metrics.find(name + std::string(report::kErrorSuffix));
  return metric.title + " " +
         (error ? report::measured_text(metric, value, error, run.samples_of(metric, metrics))
                : value_text(metric, value));
}

/// Whether a name is that of another one's standard error.
bool is_error(const Metrics& metrics, std::string_view name) {
  if (!name.ends_with(report::kErrorSuffix)) return false;
  name.remove_suffix(report::kErrorSuffix.size());
  return metrics.find(name).has_value();
}

}  // namespace

void StepMeter::begin_step() { step_start_ = clock_seconds(); }

double StepMeter::end_step(const StepSummary& result) {
  const double seconds = clock_seconds() - step_start_;
  seconds_ += seconds;
  waited_ += result.waited_seconds;
  samples_ += result.samples;
  tokens_ += result.tokens;
  return seconds;
}

void StepMeter::reset() {
  seconds_ = waited_ = 0;
  samples_ = tokens_ = 0;
}

double StepMeter::samples_per_second() const { return seconds_ > 0 ? static_cast<double>(samples_) / seconds_ : 0; }

double StepMeter::tokens_per_second() const { return seconds_ > 0 ? static_cast<double>(tokens_) / seconds_ : 0; }

double StepMeter::data_wait() const { return seconds_ > 0 ? waited_ / seconds_ : 0; }

Metrics StepMeter::machine(double run_seconds, double step_seconds, double seconds_left) const {
  Metrics metrics{{"seconds", run_seconds}, {kStepSeconds, step_seconds}, {"samples_per_second", samples_per_second()}};
  if (tokens_ > 0) metrics.set(kTokenRate, tokens_per_second());
  metrics.set("data_wait", data_wait());
  metrics.set("memory_bytes", static_cast<double>(resident_bytes()));
  metrics.set("seconds_left", seconds_left);
  return metrics;
}

std::string token_rate_title(const RunDescription& run) {
  const auto found = std::ranges::find(run.metrics, kTokenRate, &report::MetricDescription::name);
  return found == run.metrics.end() ? "tokens/s" : found->title;
}

std::string event_text(const Event& event, int64_t total_steps, const RunDescription& run) {
  std::string text = event.kind == Event::Kind::step ? "step " : "evaluation at step ";
  text += std::to_string(event.step) + "/" + std::to_string(total_steps) + " epoch " + std::to_string(event.epoch);
  for (const auto& [name, value] : event.metrics)
    if (!is_error(event.metrics, name)) text += "  " + metric_text(run, event.metrics, name, value);
  if (const auto rate = event.machine.find("samples_per_second")) {
    text += "  " + report::format_number(*rate) + " samples/s";
  }
  if (const auto rate = event.machine.find(kTokenRate))
    text += "  " + report::format_count(*rate) + " " + token_rate_title(run);
  if (const auto wait = event.machine.find("data_wait")) text += "  data wait " + report::format_percent(*wait);
  if (const auto memory = event.machine.find("memory_bytes")) {
    text += "  " + report::format_bytes(static_cast<int64_t>(*memory));
  }
  if (const auto memory = event.machine.find("device_memory_bytes"))
    text += "  " + report::format_bytes(static_cast<int64_t>(*memory)) + " on the device";
  if (const auto left = event.machine.find("seconds_left")) text += "  left " + report::format_duration(*left);
  return text;
}

report::ProgressState progress_state(const TrainState& state, const RunDescription& run, double learning_rate,
                                     double gradient_norm, const StepMeter& meter) {
  report::ProgressState progress;
  const Metrics running = means(state.running);
  for (const auto& [name, value] : running) {
    const report::MetricDescription metric = report::description_of(run.metrics, name);
    progress.metrics.push_back({metric.title, value_text(metric, value)});
  }
  progress.learning_rate = learning_rate;
  progress.gradient_norm = gradient_norm;
  const bool has_tokens = meter.tokens_per_second() > 0;
  progress.rate = has_tokens ? meter.tokens_per_second() : meter.samples_per_second();
  progress.rate_unit = has_tokens ? token_rate_title(run) : run.words.rate;
  progress.data_wait = meter.data_wait();
  progress.memory_bytes = resident_bytes();
  return progress;
}

}  // namespace cachet::train
