#include "cachet/tasks/exports/export_speed.h"

#include <ATen/Context.h>

#include <chrono>
#include <memory>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/model.h"
#include "cachet/report/format.h"
#include "cachet/train/inference/inference_scope.h"
#include "cachet/train/machine/process_setup.h"

namespace cachet::tasks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kTimedBatch = 8;
constexpr double kLongestBatch = 0.25;  // seconds that a batch of both may take
// Of a round of timings; a busy machine gets more rounds.
constexpr double kTimedSeconds = 1.5;
constexpr int64_t kMaxTimedPairs = 40;
constexpr int64_t kMaxRounds = 4;
constexpr uint64_t kTimedSeed = 0;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::shared_ptr<models::Model> model_of(const SavedRun& saved) {
  auto model = saved.plan.model().build();
  if (!saved.exported)
    io::load_state_dict(*model, read_weights(saved), {.conversion = io::LoadPolicy::Conversion::kNone});
  model->eval();
  return model;
}

/// A model or its export over samples that are the same for both: the sizes are, and the draws.
class TimedModel {
 public:
  explicit TimedModel(const SavedRun& saved)
      : model_(model_of(saved)),
        // A rewritten model is cast as its recipe asks, the run itself not, whatever it was trained in.
        precision_(saved.exported ? saved.plan.training.train.precision : train::Precision::float32) {}

  void take_batch(int64_t batch) {
    at::manual_seed(kTimedSeed);
    trial_ = model_->trial(batch, at::TensorOptions(at::kFloat));
  }
  double seconds() const {
    const train::InferenceScope inference(*model_, {.precision = precision_});
    const auto start = Clock::now();
    trial_.forward();
    return seconds_since(start);
  }

 private:
  std::shared_ptr<models::Model> model_;
  train::Precision precision_;
  models::Trial trial_;
};

}  // namespace

ExportSpeed timed_in_turns(const SpeedClocks& clocks, int64_t batch) {
  ExportSpeed speed;
  speed.batch = batch;
  std::vector<double> of_model, of_export;
  const double begin = clocks.now();
  for (int64_t round = 1; round <= kMaxRounds && (round == 1 || !speed.is_comparable()); ++round) {
    const double end = begin + static_cast<double>(round) * kTimedSeconds;
    while (of_model.empty() || (speed.pairs < round * kMaxTimedPairs && clocks.now() < end)) {
      const bool model_first = speed.pairs++ % 2 == 0;  // whoever is second finds the processor's caches otherwise
      if (model_first) of_model.push_back(1e3 * clocks.model());
      of_export.push_back(1e3 * clocks.exported());
      if (!model_first) of_model.push_back(1e3 * clocks.model());
    }
    speed.times_as_fast = analysis::ratio_of_pairs(of_model, of_export);
  }
  speed.model_milliseconds = analysis::quartiles(of_model).median;
  speed.export_milliseconds = analysis::quartiles(of_export).median;
  return speed;
}

ExportSpeed compare_speed(const SavedRun& model, const SavedRun& exported) {
  const torch::nn::Module on_cpu;
  const train::RandomStateKept random(on_cpu);  // models and samples are drawn
  TimedModel before(model), after(exported);
  int64_t batch = 0;
  const auto take_batch = [&](int64_t samples) {
    batch = samples;
    for (TimedModel* each : {&before, &after}) {
      each->take_batch(samples);
      each->seconds();  // the first time memory is taken and weights are laid out
    }
  };
  take_batch(1);
  if (kTimedBatch * (before.seconds() + after.seconds()) < kLongestBatch) take_batch(kTimedBatch);
  return timed_in_turns({[&] { return before.seconds(); }, [&] { return after.seconds(); },
                         [begin = Clock::now()] { return seconds_since(begin); }},
                        batch);
}

std::string to_text(const ExportSpeed& speed) {
  const auto ratio = [](double value) { return report::format_fixed(value, 2); };
  const auto milliseconds = [](double value) { return report::format_number(value, 3) + " ms"; };
  const std::string quartiles =
      "quartiles " + ratio(speed.times_as_fast.lower) + " to " + ratio(speed.times_as_fast.upper);
  if (!speed.is_comparable()) {
    const std::string busy = "the machine was too busy to compare the speed of the export with the speed of the model";
    const char* surely = speed.times_as_fast.upper < 1   ? "; the export is slower"
                         : speed.times_as_fast.lower > 1 ? "; the export is faster"
                                                         : "";
    return busy + surely + " (" + quartiles + " times as fast)";
  }
  const std::string times = milliseconds(speed.export_milliseconds) + " instead of " +
                            milliseconds(speed.model_milliseconds) + " for a batch of " + std::to_string(speed.batch);
  if (speed.times_as_fast.median < 1)
    return "slower than the model: it takes " + ratio(1 / speed.times_as_fast.median) + " times as long (quartiles " +
           ratio(1 / speed.times_as_fast.upper) + " to " + ratio(1 / speed.times_as_fast.lower) + "): " + times;
  return ratio(speed.times_as_fast.median) + " times as fast as the model (" + quartiles + "): " + times;
}

}  // namespace cachet::tasks
