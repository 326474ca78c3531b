#include "cachet/train/step_meter.h"

#include "cachet/report/format.h"
#include "cachet/train/runtime.h"

namespace cachet::train {

void StepMeter::end_step(const TrainingStep::Result& result) {
  const double seconds = std::chrono::duration<double>(Clock::now() - step_start_).count();
  seconds_ += seconds;
  total_seconds_ += seconds;
  waited_ += result.waited_seconds;
  samples_ += result.samples;
  tokens_ += result.tokens;
  ++steps_;
  ++total_steps_;
}

void StepMeter::reset() {
  seconds_ = waited_ = 0;
  samples_ = tokens_ = steps_ = 0;
}

double StepMeter::samples_per_second() const { return seconds_ > 0 ? static_cast<double>(samples_) / seconds_ : 0; }

double StepMeter::tokens_per_second() const { return seconds_ > 0 ? static_cast<double>(tokens_) / seconds_ : 0; }

double StepMeter::data_wait() const { return seconds_ > 0 ? waited_ / seconds_ : 0; }

Metrics StepMeter::machine(double run_seconds, int64_t steps_left) const {
  const double per_step = total_steps_ > 0 ? total_seconds_ / static_cast<double>(total_steps_) : 0;
  Metrics metrics{{"seconds", run_seconds}, {"samples_per_second", samples_per_second()}};
  if (tokens_ > 0) metrics.set("tokens_per_second", tokens_per_second());
  metrics.set("data_wait", data_wait());
  metrics.set("memory_bytes", static_cast<double>(resident_bytes()));
  metrics.set("seconds_left", per_step * static_cast<double>(steps_left));
  return metrics;
}

std::string event_text(const Event& event, int64_t total_steps) {
  std::string text = event.kind == Event::Kind::step ? "step " : "evaluation at step ";
  text += std::to_string(event.step) + "/" + std::to_string(total_steps) + " epoch " + std::to_string(event.epoch);
  for (const auto& [name, value] : event.metrics) text += "  " + name + " " + report::format_number(value);
  if (const auto rate = event.machine.find("samples_per_second")) {
    text += "  " + report::format_number(*rate) + " samples/s";
  }
  if (const auto rate = event.machine.find("tokens_per_second"))
    text += "  " + report::format_count(*rate) + " tokens/s";
  if (const auto wait = event.machine.find("data_wait")) text += "  data wait " + report::format_percent(*wait);
  if (const auto memory = event.machine.find("memory_bytes")) {
    text += "  " + report::format_bytes(static_cast<int64_t>(*memory));
  }
  if (const auto left = event.machine.find("seconds_left")) text += "  left " + report::format_duration(*left);
  return text;
}

report::ProgressState progress_state(const TrainState& state, const Objective& objective, const SampleWords& words,
                                     double learning_rate, double gradient_norm, const StepMeter& meter) {
  report::ProgressState progress;
  const Metrics running = means(state.running);
  progress.loss = running.find("loss");
  const std::optional<double> metric = running.find(objective.metric);
  if (metric && objective.higher_is_better && *metric >= 0 && *metric <= 1) progress.accuracy = metric;
  progress.learning_rate = learning_rate;
  progress.gradient_norm = gradient_norm;
  const bool has_tokens = meter.tokens_per_second() > 0;
  progress.rate = has_tokens ? meter.tokens_per_second() : meter.samples_per_second();
  progress.rate_unit = has_tokens ? "tok/s" : words.rate;
  progress.data_wait = meter.data_wait();
  progress.memory_bytes = resident_bytes();
  return progress;
}

}  // namespace cachet::train
