#include "cachet/train/step/time_left.h"

#include <algorithm>
#include <numeric>

namespace cachet::train {
namespace {

constexpr double kForwardShare = 1.0 / 3;  // of a training step's time

/// The multiples of `every` from `first` to `last`.
int64_t multiples(int64_t every, int64_t first, int64_t last) { return last / every - (first - 1) / every; }

/// The same of both numbers at once; none if their least common multiple lies beyond.
int64_t common_multiples(int64_t a, int64_t b, int64_t first, int64_t last) {
  return a / std::gcd(a, b) <= last / b ? multiples(std::lcm(a, b), first, last) : 0;
}

}  // namespace

WorkLeft work_left(const TrainOptions& options, int64_t steps_per_epoch, int64_t total_steps, int64_t step) {
  const int64_t first = std::max<int64_t>(step, 1);  // nothing is due before the first step
  const int64_t evaluate = options.evaluate_every.steps(steps_per_epoch),
                save = options.checkpoint_every.steps(steps_per_epoch);
  const bool evaluates_at_end = total_steps % evaluate == 0, saves_at_end = total_steps % save == 0;
  const int64_t evaluations = multiples(evaluate, first, total_steps);
  return {total_steps - step, evaluations + (evaluates_at_end ? 0 : 1),
          evaluations + multiples(save, first, total_steps) - common_multiples(save, evaluate, first, total_steps) +
              (evaluates_at_end || saves_at_end ? 0 : 1)};
}

void TimeLeft::add_step(double seconds, int64_t samples) {
  steps_.add(seconds);
  samples_ += samples;
}

double TimeLeft::seconds(const WorkLeft& left, int64_t evaluated_samples) const {
  const double forward = samples_ > 0 ? kForwardShare * steps_.total / static_cast<double>(samples_) : 0;
  const double evaluation =
      evaluations_.count > 0 ? evaluations_.value() : forward * static_cast<double>(evaluated_samples);
  return static_cast<double>(left.steps) * steps_.value() + static_cast<double>(left.evaluations) * evaluation +
         static_cast<double>(left.checkpoints) * checkpoints_.value();
}

}  // namespace cachet::train
