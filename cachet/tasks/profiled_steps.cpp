#include "cachet/tasks/profiled_steps.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/tasks/note_filter.h"
#include "cachet/train/data_parallel/part_states.h"
#include "cachet/train/machine/clock.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/profile/profiler.h"
#include "cachet/train/profile/run_profile.h"
#include "cachet/train/step/live_run.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kWarmupSteps = 3;  // in which a CUDA graph is recorded

/// The recipe for steps of one micro-batch of synthetic samples.
RecipePlan synthetic_plan(const RecipePlan& plan, int64_t samples) {
  std::unique_ptr<TaskPlan> task = plan.task->copy();
  task->reduce();
  task->enlarge_samples();
  RecipePlan result = plan;
  train::TrainOptions& training = result.training.train;
  training.batch_size = samples > 0 ? samples : plan.task->batch_count(training).samples;
  training.accumulate = 1;
  training.shard = {};
  training.limit.reset();
  result.task = std::move(task);
  return result;
}

/// The median duration of steps in seconds, after a warm-up.
double median_seconds(int64_t steps, const std::function<void()>& step) {
  for (int64_t i = 0; i < kWarmupSteps; ++i) step();
  std::vector<double> seconds;
  for (int64_t i = 0; i < steps; ++i) {
    const double start = train::clock_seconds();
    step();
    seconds.push_back(train::clock_seconds() - start);
  }
  return analysis::quartiles(seconds).median;
}

void wait_for(c10::Device device) {
  if (!device.is_cpu()) c10::impl::getDeviceGuardImpl(device.type())->synchronizeDevice(device.index());
}

train::ProfileRecording recorded(c10::Device device, const ProfileOptions& options, const std::function<void()>& step) {
  train::Profiler profiler(device);
  for (int64_t i = 0; i < options.steps; ++i) step();
  train::ProfileRecording recording = profiler.stop();
  if (options.trace) recording.write_trace(*options.trace);
  return recording;
}

int64_t parameter_bytes(const torch::nn::Module& model) {
  int64_t bytes = 0;
  for (const io::NamedTensor& parameter : io::distinct_parameters(model))
    bytes += static_cast<int64_t>(parameter.tensor.nbytes());
  return bytes;
}

}  // namespace

train::StepProfile profile_training(const RecipePlan& plan, const ProfileOptions& options) {
  train::silence_profiler();
  const RecipePlan synthetic = synthetic_plan(plan, options.samples);
  const NoteFilter silent(NoteFilter::Prints::nothing);
  const c10::Device device = train::find_device(plan.training.train.device);
  train::reset_device_peak(device);
  const auto task = synthetic.build(Splits::synthetic);
  nn::settle_warmups(task->model(), 0);  // as in the middle of a run
  train::LiveRun run(*task, synthetic.training);
  const auto step = [&] {
    if (run.state.batch == 0) run.fill_batches();
    return run.advance().samples;
  };
  const double seconds = median_seconds(options.steps, [&] {
    step();
    wait_for(device);
  });
  run.settle();
  train::ProfiledSteps steps{.device = device, .count = options.steps};
  const train::ProfileRecording recording = recorded(device, options, [&] { steps.samples += step(); });
  run.settle();
  train::StepProfile profile = train::profile_of_run(recording, steps, run);
  profile.seconds_without_profiler = seconds;
  return profile;
}

train::StepProfile profile_trial(models::Model& model, const analysis::BenchmarkOptions& trial,
                                 const ProfileOptions& options) {
  constexpr int64_t kMoments = 2;
  const bool trains = trial.mode == analysis::BenchmarkMode::training;
  train::silence_profiler();
  const c10::Device device = train::device_of(model);
  train::reset_device_peak(device);
  const std::function<void()> step = analysis::trial_step(model, trial);
  const double seconds = median_seconds(options.steps, step);
  const train::ProfileRecording recording = recorded(device, options, step);
  train::MemoryUse fixed;
  fixed.weights = parameter_bytes(model);
  fixed.states = train::state_bytes(model);
  if (trains) fixed.gradients = fixed.weights;
  if (trains) fixed.optimizer = kMoments * fixed.weights;
  const auto peak = train::device_peak_bytes(device);
  train::StepProfile profile = train::step_profile(
      recording, {.device = device, .count = options.steps, .samples = options.steps * trial.batch},
      peak ? train::with_peak(fixed, *peak) : train::with_growth(fixed, recording.host_bytes, trains));
  profile.seconds_without_profiler = seconds;
  return profile;
}

}  // namespace cachet::tasks
