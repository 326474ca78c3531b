#include "cachet/train/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cachet::train {

using Kind = ScheduleOptions::Kind;

Schedule::Schedule(const ScheduleOptions& options, double peak, int64_t total_steps, int64_t steps_per_epoch)
    : options_(options), peak_(peak), total_steps_(total_steps), warmup_steps_(options.warmup.steps(steps_per_epoch)) {
  for (const Duration& milestone : options.milestones) milestones_.push_back(milestone.steps(steps_per_epoch));
  if (options_.kind == Kind::arena) peak_ = peak / std::sqrt(static_cast<double>(std::max<int64_t>(1, warmup_steps_)));
  if (options_.kind != Kind::one_cycle) return;
  if (options_.one_cycle.rule == OneCycleOptions::Rule::pytorch) {
    const double warmup = options_.one_cycle.share_up ? *options_.one_cycle.share_up * static_cast<double>(total_steps)
                                                      : static_cast<double>(warmup_steps_);
    one_cycle_.emplace(options_.one_cycle, peak, total_steps, warmup);
    return;
  }
  if (options_.warmup_start == 0) options_.warmup_start = peak / 25;
  if (options_.minimum == 0) options_.minimum = options_.warmup_start / 1e4;
}

double Schedule::stepped_rate(int64_t step) const {
  const auto passed = std::ranges::count_if(milestones_, [&](int64_t milestone) { return milestone <= step; });
  const double rate = peak_ * std::pow(options_.factor, static_cast<double>(passed));
  if (step >= warmup_steps_) return rate;
  const double left = 1 - static_cast<double>(step) / static_cast<double>(warmup_steps_);
  return rate * (1 - left * (1 - options_.warmup_factor));
}

std::optional<double> Schedule::momentum(int64_t step) const {
  if (!options_.cycles_momentum()) return std::nullopt;
  return one_cycle_->momentum(step);
}

double Schedule::learning_rate(int64_t step) const {
  if (one_cycle_) return one_cycle_->learning_rate(step);
  if (options_.kind == Kind::step) return stepped_rate(step);
  if (step < warmup_steps_) {
    double progress = static_cast<double>(step + options_.first_update) / static_cast<double>(warmup_steps_);
    if (options_.kind == Kind::one_cycle) progress = (1 - std::cos(std::numbers::pi * progress)) / 2;
    return options_.warmup_start + (peak_ - options_.warmup_start) * progress;
  }
  const auto length = static_cast<double>(std::max<int64_t>(1, total_steps_ - warmup_steps_));
  const double p = std::min(1.0, static_cast<double>(step - warmup_steps_) / length);
  const double span = peak_ - options_.minimum;
  switch (options_.kind) {
    case Kind::cosine:
    case Kind::one_cycle:
      return options_.minimum + span * (1 + std::cos(std::numbers::pi * p)) / 2;
    case Kind::linear:
      return options_.minimum + span * (1 - p);
    case Kind::inverse_sqrt:
    case Kind::arena:
      return peak_ * std::sqrt(static_cast<double>(warmup_steps_) / static_cast<double>(step + options_.first_update));
    case Kind::constant:
    case Kind::step:
      break;
  }
  return peak_;
}

}  // namespace cachet::train
