// The memory of a recipe's training steps, for memory_test.py and tools/memory-check: as it is estimated, or as it is.
//
// usage: memory_probe estimate|measure RECIPE [key=value ...]
//
// Both print bytes above those before the model was built. `measure` trains steps of synthetic samples of the largest
// size at the recipe's batch, evaluates, writes a checkpoint, and prints the largest resident set. Standard error has
// the parts.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "cachet/tasks/memory_estimate.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/machine/memory_limit.h"
#include "cachet/train/step/live_run.h"

namespace {

using namespace cachet;

int64_t estimated(const tasks::RecipePlan& plan) {
  const int64_t free = train::available_bytes().value_or(std::numeric_limits<int64_t>::max());
  const auto curve = tasks::StepMemoryCurve::measure(plan, free, tasks::MemoryTrial::precise);
  if (!curve) return -1;
  const tasks::MemoryEstimate estimate = curve->at(plan.task->batch_count(plan.training.train).samples);
  std::fprintf(stderr,
               "parameters %ld gradients %ld optimizer %ld states %ld activations %ld checkpoint %ld rest %ld\n",
               estimate.parameters, estimate.gradients, estimate.optimizer, estimate.states, estimate.activations,
               estimate.checkpoint, estimate.rest);
  return estimate.total() - estimate.batches;  // the measured steps have no loader
}

int64_t measured(const tasks::RecipePlan& plan) {
  tasks::RecipePlan whole = plan;
  std::unique_ptr<tasks::TaskPlan> task = plan.task->copy();
  task->reduce();
  task->enlarge_samples();
  whole.training.train.batch_size = plan.task->batch_count(plan.training.train).samples;
  whole.task = std::move(task);
  const int64_t before = train::resident_bytes();
  const train::ResidentPeak peak;
  const auto built = whole.build(tasks::Splits::synthetic);
  train::LiveRun run(*built, whole.training);
  run.fill_batches();
  for (int step = 0; step < 3; ++step) {
    run.advance();
    if (run.state.batch == 0) run.fill_batches();
  }
  const auto most = [&] { return peak.bytes().value_or(0) - before; };
  const int64_t of_steps = most();
  run.evaluate([](int64_t, int64_t) {});
  const int64_t of_evaluation = most();
  const std::filesystem::path folder = "checkpoint." + std::to_string(getpid());
  train::write_checkpoint(folder, run.capture(), "probe");
  std::filesystem::remove_all(folder);
  std::fprintf(stderr, "steps %ld evaluation %ld checkpoint %ld\n", of_steps, of_evaluation, most());
  return most();
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  try {
    config::Document document = config::Document::from_file(words[2]);
    for (int i = 3; i < count; ++i) document.set(words[i]);
    const tasks::RecipePlan plan = tasks::read_recipe(document, data::DataRoot::optional);
    std::printf("%ld\n", std::string(words[1]) == "estimate" ? estimated(plan) : measured(plan));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
