#include "cachet/train/optimizer/one_cycle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cachet::train {

OneCycle::OneCycle(const OneCycleOptions& options, double peak, int64_t total_steps, double warmup)
    : anneal_(options.anneal) {
  const double first = peak / options.div_factor, least = first / options.final_div_factor;
  const double low = options.base_momentum, high = options.max_momentum;
  const double top = warmup - 1, last = static_cast<double>(total_steps) - 1;
  // The way up begins at step 0; a warm-up of less than a step has no way up.
  phases_.push_back({0, top, first, peak, high, low});
  if (options.three_phase) {
    const double down = 2 * warmup - 2;
    phases_.push_back({top, down, peak, first, low, high});
    phases_.push_back({down, last, first, least, high, high});
  } else {
    phases_.push_back({top, last, peak, least, low, high});
  }
}

const OneCycle::Phase& OneCycle::phase_of(int64_t step) const {
  const auto found =
      std::ranges::find_if(phases_, [&](const Phase& phase) { return static_cast<double>(step) <= phase.end; });
  return found == phases_.end() ? phases_.back() : *found;
}

double OneCycle::share_of(const Phase& phase, int64_t step) {
  const double length = phase.end - phase.start;
  return length > 0 ? std::min(1.0, (static_cast<double>(step) - phase.start) / length) : 1;
}

double OneCycle::between(double first, double last, double progress) const {
  if (anneal_ == OneCycleOptions::Anneal::linear) return (last - first) * progress + first;
  return last + (first - last) / 2 * (std::cos(std::numbers::pi * progress) + 1);
}

double OneCycle::learning_rate(int64_t step) const {
  const Phase& phase = phase_of(step);
  return between(phase.first_rate, phase.last_rate, share_of(phase, step));
}

double OneCycle::momentum(int64_t step) const {
  const Phase& phase = phase_of(step);
  return between(phase.first_momentum, phase.last_momentum, share_of(phase, step));
}

}  // namespace cachet::train
