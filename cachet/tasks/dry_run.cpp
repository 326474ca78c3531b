#include "cachet/tasks/dry_run.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/machine/memory_limit.h"
#include "cachet/train/runs/deciding_metric.h"
#include "cachet/train/runs/length_notes.h"
#include "cachet/train/step/live_run.h"
#include "cachet/train/step/step_graphs.h"
#include "cachet/train/step/time_left.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kMaxSyntheticSamples = 4;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cachet-dry-run-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder at " + name);
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr double kEnoughSeconds = 5;  // of an evaluation, to estimate how long all of it takes

/// Thrown through an evaluation that has been looked at for long enough.
struct SeenEnough {
  double seconds;  // of the whole, as it seems
};

/// What has not come after a while takes as long, piece by piece, as the last one did: translating comes after losses.
double whole_evaluation_seconds(train::LiveRun& live, const train::RunDescription& run) {
  const Stopwatch watch;
  double before = 0;
  int64_t done_before = 0;
  try {
    const train::Metrics found = live.evaluate([&](int64_t done, int64_t total) {
      const double now = watch.seconds();
      if (done > done_before && now >= kEnoughSeconds)
        throw SeenEnough{now +
                         (now - before) * static_cast<double>(total - done) / static_cast<double>(done - done_before)};
      before = now;
      done_before = done;
    });
    train::deciding_value(run, found);
  } catch (const SeenEnough& seen) {
    return seen.seconds;
  }
  return watch.seconds();
}

}  // namespace

double DryRun::total_seconds() const {
  return static_cast<double>(total_steps) * step_seconds + static_cast<double>(evaluations) * evaluation_seconds +
         static_cast<double>(checkpoints) * checkpoint_seconds;
}

DryRun dry_run(train::TrainingTask& task, const train::Options& options, int64_t processes) {
  const train::RunDescription run = task.describe();
  train::deciding_metric(run);
  train::LiveRun live(task, options);
  live.fill_batches();
  live.advance();
  live.settle();
  live.fill_batches();  // of the next epoch, if that was the last step of one
  DryRun result;
  result.graphs = train::graph_plan(task, options, live.device(), processes).note;
  const Stopwatch step;
  result.step_samples = live.advance().samples;
  live.settle();
  result.step_seconds = step.seconds();
  result.evaluation_seconds = whole_evaluation_seconds(live, run);
  // A forward pass takes about a third of a micro-batch's time in a step.
  if (live.renews_average())
    result.evaluation_seconds += static_cast<double>(options.train.ema_renew_states) * result.step_seconds /
                                 static_cast<double>(3 * options.train.accumulate);

  const ScratchFolder scratch;
  const Stopwatch saving;
  const train::Checkpoint checkpoint = live.capture();
  train::write_checkpoint(scratch.path() / "step-00000002", checkpoint, "dry run");
  result.checkpoint_seconds = saving.seconds();
  result.checkpoint_bytes = train::checkpoint_bytes(checkpoint);
  result.memory_bytes = train::resident_bytes();
  const train::WorkLeft whole = train::work_left(options.train, live.steps_per_epoch(), live.total_steps(), 0);
  result.total_steps = whole.steps;
  result.evaluations = whole.evaluations;
  result.checkpoints = whole.checkpoints;
  result.notes = train::length_notes(options, live.total_steps(), live.steps_per_epoch());
  for (std::string& note : task.notes_on_run(live.length())) result.notes.push_back(std::move(note));
  return result;
}

RecipePlan reduced(const RecipePlan& plan) {
  std::unique_ptr<TaskPlan> task = plan.task->copy();
  task->reduce();
  RecipePlan small = plan;
  small.task = std::move(task);
  small.training.train.batch_size = std::min(plan.training.train.batch_size, kMaxSyntheticSamples);
  small.training.train.accumulate = 1;
  small.training.train.shard.parts = 1;
  return small;
}

}  // namespace cachet::tasks
