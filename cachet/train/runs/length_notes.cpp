#include "cachet/train/runs/length_notes.h"

#include "cachet/train/optimizer/schedule.h"

namespace cachet::train {

std::vector<std::string> length_notes(const Options& options, int64_t total_steps, int64_t steps_per_epoch) {
  std::vector<std::string> notes;
  const auto steps = [](int64_t count) { return Duration{count, Duration::Unit::steps}.text(); };
  const Schedule schedule(options.schedule, options.optimizer.learning_rate, total_steps, steps_per_epoch);
  if (schedule.warmup_steps() > total_steps)
    notes.push_back(
        "schedule.warmup is " + options.schedule.warmup.text() + ", but the run has only " + steps(total_steps) +
        ", so the learning rate does not reach optimizer.lr; set a shorter schedule.warmup, or a longer run");
  if (options.train.limit && options.train.limit->steps(steps_per_epoch) > total_steps)
    notes.push_back("train.limit is " + options.train.limit->text() +
                    ", but train.epochs = " + std::to_string(options.train.epochs) + " ends the run earlier, after " +
                    steps(total_steps) + "; raise train.epochs");
  return notes;
}

}  // namespace cachet::train
