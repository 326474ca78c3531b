#include "cachet/train/step/step_summary.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "cachet/train/machine/clock.h"

namespace cachet::train {
namespace {

/// Adds the time that `wait` takes to the summary. `wait` returns false if the batches end.
template <class Wait>
void measured(StepSummary& summary, const Wait& wait) {
  const double start = clock_seconds();
  if (!wait()) throw std::runtime_error("the training data ended before the end of the epoch");
  summary.waited_seconds += clock_seconds() - start;
}

}  // namespace

StepSummary nothing_read() {
  StepSummary nothing;
  nothing.read_steps = 0;
  return nothing;
}

void wait_for_step(TrainingBatches& batches, int64_t micro_batches, StepSummary& summary) {
  measured(summary, [&] { return batches.fetch_step(micro_batches); });
}

void wait_for_micro_batch(TrainingBatches& batches, StepSummary& summary) {
  measured(summary, [&] { return batches.fetch(); });
}

void require_weight(double weight) {
  if (weight >= 0 && !std::isinf(weight)) return;
  throw std::logic_error("the task gave a micro-batch a wrong weight, " + std::to_string(weight));
}

}  // namespace cachet::train
