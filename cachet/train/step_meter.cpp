#include "cachet/train/step_meter.h"

#include "cachet/report/format.h"
#include "cachet/train/runtime.h"

namespace cachet::train {

void StepMeter::end_step(const TrainingStep::Result& result) {
  last_seconds_ = std::chrono::duration<double>(Clock::now() - step_start_).count();
  seconds_ += last_seconds_;
  total_seconds_ += last_seconds_;
  waited_ += result.waited_seconds;
  samples_ += result.samples;
  ++steps_;
  ++total_steps_;
}

void StepMeter::reset() {
  seconds_ = waited_ = 0;
  samples_ = steps_ = 0;
}

double StepMeter::samples_per_second() const { return seconds_ > 0 ? static_cast<double>(samples_) / seconds_ : 0; }

double StepMeter::data_wait() const { return seconds_ > 0 ? waited_ / seconds_ : 0; }

Metrics StepMeter::machine(double run_seconds, int64_t steps_left) const {
  const double per_step = total_steps_ > 0 ? total_seconds_ / static_cast<double>(total_steps_) : 0;
  return {{"seconds", run_seconds},
          {"samples_per_second", samples_per_second()},
          {"data_wait", data_wait()},
          {"memory_bytes", static_cast<double>(resident_bytes())},
          {"seconds_left", per_step * static_cast<double>(steps_left)}};
}

std::string event_text(const Event& event, int64_t total_steps) {
  std::string text = event.kind == Event::Kind::step ? "step " : "evaluation at step ";
  text += std::to_string(event.step) + "/" + std::to_string(total_steps) + " epoch " + std::to_string(event.epoch);
  for (const auto& [name, value] : event.metrics) text += "  " + name + " " + report::format_number(value);
  if (const auto rate = event.machine.find("samples_per_second")) {
    text += "  " + report::format_number(*rate) + " samples/s";
  }
  if (const auto wait = event.machine.find("data_wait")) text += "  data wait " + report::format_percent(*wait);
  if (const auto memory = event.machine.find("memory_bytes")) {
    text += "  " + report::format_bytes(static_cast<int64_t>(*memory));
  }
  if (const auto left = event.machine.find("seconds_left")) text += "  left " + report::format_duration(*left);
  return text;
}

report::ProgressState progress_state(const TrainState& state, const Objective& objective, double learning_rate,
                                     double gradient_norm, const StepMeter& meter) {
  report::ProgressState progress;
  const Metrics running = means(state.running);
  progress.loss = running.find("loss");
  const std::optional<double> metric = running.find(objective.metric);
  if (metric && objective.higher_is_better && *metric >= 0 && *metric <= 1) progress.accuracy = metric;
  progress.learning_rate = learning_rate;
  progress.gradient_norm = gradient_norm;
  progress.images_per_second = meter.samples_per_second();
  progress.data_wait = meter.data_wait();
  progress.memory_bytes = resident_bytes();
  return progress;
}

}  // namespace cachet::train
