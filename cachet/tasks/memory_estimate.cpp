#include "cachet/tasks/memory_estimate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "cachet/analysis/cost/benchmark.h"
#include "cachet/analysis/cost/live_memory.h"
#include "cachet/analysis/cost/meta_model.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/report/format.h"
#include "cachet/tasks/note_filter.h"
#include "cachet/tasks/translation/translation_plan.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/data_parallel/part_states.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/memory_limit.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/live_run.h"
#include "cachet/train/step/recalibration.h"

namespace cachet::tasks {
namespace {

using train::StateRule;

constexpr int64_t kMiB = int64_t{1} << 20;
// The last round of a measurement adds at least kTrialBytes of tensors, since allocators round. If the round before it
// has one sample, whose overhead is not usual, the last round adds kAfterOneSample times as much.
constexpr int64_t kTrialBytes = 192 * kMiB;
constexpr double kAfterOneSample = 4;
constexpr double kGradientsOfTrial = 4;  // times the gradients, at least in the tensors of the last round
constexpr double kLeastSamples = 4;      // in the second round
constexpr int kMostRounds = 4;
constexpr double kTrialFraction = 0.85;  // of the free memory, that a measured step may take
constexpr double kMostOverhead = 1.6;    // resident bytes for each byte of tensors, of an allocator that holds much
constexpr double kUsualOverhead = 1.2;
constexpr double kUsualBytes = 128.0 * kMiB;  // the weight of the usual overhead against the measured one
constexpr double kReusedByCheckpoint = 0.25;  // of the tensors that a larger step adds
constexpr double kChosenFraction = 0.9;       // of the free memory, for a batch that is chosen

int64_t bytes_of_tensors(const io::TensorMap& tensors) {
  int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

/// The recipe for steps of so many synthetic samples, one micro-batch each.
RecipePlan small_plan(const RecipePlan& plan, int64_t samples) {
  std::unique_ptr<TaskPlan> task = plan.task->copy();
  task->reduce();
  task->enlarge_samples();
  RecipePlan small = plan;
  small.task = std::move(task);
  small.training.train.batch_size = samples;
  small.training.train.accumulate = 1;
  small.training.train.shard = {};
  small.training.train.limit.reset();
  return small;
}

struct MeasuredStep {
  MemoryEstimate fixed;
  int64_t live = 0, resident = 0;  // bytes at most, above those before the model was built
  int64_t before = 0;              // resident bytes that libraries and earlier steps have left, before the step
  int64_t checkpoint = 0;          // that are added to the resident ones
  int64_t batch_bytes = 0;
};

/// Makes the files of a checkpoint one after the other, as they are made to be written.
void make_checkpoint_files(const train::LiveRun& run) {
  const train::Checkpoint checkpoint = run.capture();
  for (const io::TensorMap* tensors : {&checkpoint.model, &checkpoint.optimizer, &checkpoint.ema, &checkpoint.parts})
    if (!tensors->empty()) io::serialize_safetensors(*tensors);
}

/// Takes two steps, since the optimizer has its state from the second on, and makes a checkpoint. If this needs more
/// than `free` bytes, allocations fail. `checkpoint`: what a checkpoint added to an earlier, smaller step; the step
/// makes none if there is no room for so much.
MeasuredStep measure_step(const RecipePlan& plan, int64_t samples, int64_t resident_before, int64_t free,
                          std::optional<int64_t> checkpoint) {
  const RecipePlan small = small_plan(plan, samples);
  const NoteFilter silent(NoteFilter::Prints::nothing);
  train::release_unused_memory();  // of an earlier step
  const train::AllocationLimit limit(free);
  const train::ResidentPeak resident;
  const analysis::LiveMemory live;
  MeasuredStep measured;
  measured.before = train::resident_bytes() - resident_before;
  {
    const auto task = small.build(Splits::synthetic);
    {
      const int64_t before = live.live_bytes();
      const auto batches = task->training_batches(/*epoch=*/0, /*first_batch=*/0);
      if (batches->fetch()) measured.batch_bytes = live.live_bytes() - before;
    }
    train::LiveRun run(*task, small.training);
    run.fill_batches();
    run.advance();
    if (run.state.batch == 0) run.fill_batches();
    run.advance();
    measured.live = live.peak_bytes();
    measured.resident = resident.bytes().value_or(0) - resident_before;
    measured.checkpoint = checkpoint.value_or(0);
    const auto room = static_cast<int64_t>(kTrialFraction * static_cast<double>(free)) - measured.resident;
    if (!checkpoint || *checkpoint <= room) {
      make_checkpoint_files(run);
      measured.checkpoint = std::max<int64_t>(0, resident.bytes().value_or(0) - resident_before - measured.resident);
    }
    MemoryEstimate& fixed = measured.fixed;
    const torch::nn::Module& model = task->model();
    for (const io::NamedTensor& parameter : io::distinct_parameters(model)) {
      fixed.parameters += static_cast<int64_t>(parameter.tensor.nbytes());
      if (parameter.tensor.grad().defined()) fixed.gradients += static_cast<int64_t>(parameter.tensor.grad().nbytes());
    }
    fixed.optimizer = bytes_of_tensors(run.training_step().optimizer().state());
    if (small.training.train.ema_decay > 0) fixed.optimizer += fixed.parameters;
    for (const at::Tensor& buffer : model.buffers()) fixed.parameters += static_cast<int64_t>(buffer.nbytes());
    // The parts of a step have copies of the states; the measured step had one part.
    fixed.states = train::part_state_bytes(model, plan.training.train).in_memory;
    const int64_t more = fixed.states - train::part_state_bytes(model, small.training.train).in_memory;
    measured.live += more;
    if (measured.resident > 0) measured.resident += more;
  }
  // A system that does not report the largest resident set: tensors alone.
  measured.resident = std::max(measured.resident, measured.live);
  return measured;
}

int64_t fixed_bytes(const MemoryEstimate& e) { return e.parameters + e.gradients + e.optimizer + e.states; }

/// data.max_samples of a translation if data.max_tokens sets the size of its largest samples' batches: both limit the
/// batches of shorter samples.
std::optional<int64_t> other_size(const RecipePlan& plan, const TaskPlan::BatchCount& count) {
  const auto* translation = dynamic_cast<const TranslationPlan*>(plan.task.get());
  if (translation == nullptr || count.key != "data.max_tokens") return std::nullopt;
  const int64_t most = translation->options().loader.budget.max_samples;
  return most > 0 ? std::optional(most) : std::nullopt;
}

/// Whether the parts of a step become those of train.state = "first". Each batch of the data is then a whole step, as
/// it is without parts: the order of the samples and the number of steps stay the same.
bool sets_state(const RecipePlan& plan, const BatchChoice& choice) {
  return choice.accumulate > 1 && plan.training.train.state == StateRule::shared;
}

int64_t samples_of_process(const RecipePlan& plan, int64_t processes) {
  const TaskPlan::BatchCount count = plan.task->batch_count(plan.training.train);
  return (count.samples + processes - 1) / processes;
}

}  // namespace

std::optional<StepMemoryCurve> StepMemoryCurve::measure(const RecipePlan& plan, int64_t free, MemoryTrial trial) {
  const int64_t before = train::resident_bytes();
  StepMemoryCurve curve;
  curve.batches_ahead_ = plan.task->batches_ahead();
  std::optional<int64_t> libraries;  // bytes that the first step has left
  const int64_t all = std::max<int64_t>(1, plan.task->batch_count(plan.training.train).samples);
  const auto take = [&](int64_t samples) {
    const bool is_first = curve.last_.samples == 0;
    const MeasuredStep step =
        measure_step(plan, samples, before, free, is_first ? std::nullopt : std::optional(curve.last_.checkpoint));
    curve.fixed_ = step.fixed;
    curve.batch_bytes_ = step.batch_bytes / samples;
    if (!is_first && !libraries) libraries = step.before;
    // A run takes no earlier steps of other sizes. Such steps leave prepared operators and parts of pages in memory.
    const int64_t of_earlier = is_first ? 0 : std::max<int64_t>(0, step.before - *libraries);
    return Step{samples, step.live, std::max(step.live, step.resident - of_earlier), step.checkpoint};
  };
  try {
    curve.first_ = curve.last_ = take(1);
  } catch (...) {
    if (analysis::is_out_of_memory()) return std::nullopt;
    throw;
  }
  // What does not grow with the batch is in it, too: the gradients come after a part of the activations is freed.
  const auto bound = [&curve] {
    const MemoryEstimate& fixed = curve.fixed_;
    const int64_t of_samples = curve.last_.live - fixed.parameters - fixed.optimizer - fixed.states;
    return std::max(1.0, static_cast<double>(of_samples) / static_cast<double>(curve.last_.samples));
  };
  curve.tensors_of_sample_ = bound();
  // A large first step shows how much the allocator holds for each byte of tensors.
  const auto live = static_cast<double>(std::max<int64_t>(1, curve.first_.live));
  curve.overhead_ = std::clamp(static_cast<double>(curve.first_.resident) / live, 1.0, kMostOverhead);
  if (all == 1) return curve;
  if (trial == MemoryTrial::quick && curve.at(all).total() < free / 2) return curve;

  const auto gradients = static_cast<double>(curve.fixed_.gradients);
  double added = 0;  // bytes of tensors, by the last round
  for (int round = 0; round < kMostRounds && curve.last_.samples < all; ++round) {
    const auto of_last = static_cast<double>(curve.last_.samples);
    const double enough = static_cast<double>(kTrialBytes) * (round < 2 ? kAfterOneSample : 1);
    if (added >= enough && of_last * bound() >= kGradientsOfTrial * gradients) break;
    // If memory is short, each round comes nearer to it: the bound falls as the gradients count less in it.
    const double left = kTrialFraction * static_cast<double>(free) - static_cast<double>(curve.last_.resident);
    const double fit = of_last + left / (bound() * kMostOverhead);
    const double more = round == 0 ? kLeastSamples - 1 : std::ceil(kTrialBytes / curve.tensors_of_sample_);
    const double wanted = std::max(of_last + more, std::ceil(kGradientsOfTrial * gradients / bound()));
    const int64_t next = std::min(static_cast<int64_t>(std::min(wanted, fit)), all);
    if (next <= curve.last_.samples) break;
    const Step before_last = curve.last_;
    try {
      curve.last_ = take(next);
    } catch (...) {
      if (analysis::is_out_of_memory()) break;
      throw;
    }
    const auto count = static_cast<double>(next);
    const auto tensors = static_cast<double>(curve.last_.live - before_last.live);
    curve.tensors_of_sample_ = std::max({1.0, tensors / (count - of_last), bound() - gradients / count});
    added = std::max(0.0, tensors);
    const auto resident = static_cast<double>(curve.last_.resident - before_last.resident);
    const double overhead = (resident + kUsualOverhead * kUsualBytes) / (added + kUsualBytes);
    curve.overhead_ = std::clamp(overhead, 1.0, kMostOverhead);
  }
  return curve;
}

MemoryEstimate StepMemoryCurve::at(int64_t samples) const {
  MemoryEstimate estimate = fixed_;
  estimate.samples = samples;
  // The size that was measured last is not computed.
  const double more = tensors_of_sample_ * static_cast<double>(samples - last_.samples);
  const int64_t live = std::max(first_.live, last_.live + static_cast<int64_t>(more));
  const int64_t resident = std::max(first_.resident, last_.resident + static_cast<int64_t>(overhead_ * more));
  estimate.activations = std::max<int64_t>(0, live - fixed_bytes(fixed_));
  // The allocator keeps memory of larger steps, which a checkpoint then uses: at least a quarter of what they add.
  const double slope = last_.samples == first_.samples ? 0
                                                       : static_cast<double>(last_.checkpoint - first_.checkpoint) /
                                                             static_cast<double>(last_.samples - first_.samples);
  double added = std::min(0.0, slope) * static_cast<double>(samples - last_.samples);
  if (more > 0) added = std::min(added, -kReusedByCheckpoint * more);
  estimate.checkpoint = std::max<int64_t>(0, last_.checkpoint + static_cast<int64_t>(added));
  estimate.batches = batches_ahead_ * batch_bytes_ * samples;
  estimate.rest = std::max<int64_t>(0, resident - fixed_bytes(fixed_) - estimate.activations);
  return estimate;
}

int64_t StepMemoryCurve::most_samples(int64_t bytes) const {
  int64_t fits = 0, too_many = 1;
  while (at(too_many).total() <= bytes && too_many < (int64_t{1} << 40)) fits = std::exchange(too_many, 2 * too_many);
  while (too_many - fits > 1) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (at(middle).total() <= bytes ? fits : too_many) = middle;
  }
  return fits;
}

std::optional<BatchChoice> batches_that_fit(const RecipePlan& plan, int64_t most_samples) {
  const int64_t accumulate_of_recipe = plan.training.train.accumulate;
  const TaskPlan::BatchCount count = plan.task->batch_count(plan.training.train);
  const int64_t of_step = count.value * accumulate_of_recipe, samples = count.samples * accumulate_of_recipe;
  const std::optional<int64_t> other = other_size(plan, count);
  if (most_samples < 1) return std::nullopt;
  for (int64_t accumulate = 1; of_step / accumulate >= count.value_of_sample; ++accumulate) {
    const bool divides = of_step % accumulate == 0 && other.value_or(0) * accumulate_of_recipe % accumulate == 0;
    if (!divides || (samples + accumulate - 1) / accumulate > most_samples) continue;
    BatchChoice choice{of_step / accumulate, accumulate};
    if (other) choice.most_samples = *other * accumulate_of_recipe / accumulate;
    return choice;
  }
  return std::nullopt;
}

std::vector<std::string> batch_settings(const RecipePlan& plan, const BatchChoice& choice, bool keeps_states) {
  std::vector<std::string> settings{plan.task->batch_count(plan.training.train).key + "=" +
                                    std::to_string(choice.size)};
  if (choice.most_samples > 0) settings.push_back("data.max_samples=" + std::to_string(choice.most_samples));
  settings.push_back("train.accumulate=" + std::to_string(choice.accumulate));
  if (keeps_states && sets_state(plan, choice)) settings.push_back("train.state=\"first\"");
  return settings;
}

bool has_batch_state(const RecipePlan& plan) { return train::has_states(*analysis::build_on_meta(plan.model())); }

std::string MemoryVerdict::text() const {
  using report::format_bytes;
  std::string parts = "parameters " + format_bytes(estimate.parameters) + ", gradients " +
                      format_bytes(estimate.gradients) + ", optimizer " + format_bytes(estimate.optimizer);
  if (estimate.states > 0) parts += ", states of parts " + format_bytes(estimate.states);
  parts += ", activations " + format_bytes(estimate.activations);
  if (estimate.checkpoint > 0) parts += ", checkpoint " + format_bytes(estimate.checkpoint);
  if (estimate.batches > 0) parts += ", batches ahead " + format_bytes(estimate.batches);
  parts += ", libraries " + format_bytes(estimate.rest);
  return "about " + format_bytes(estimate.total()) + (processes > 1 ? " in each process, of " : " of ") +
         format_bytes(free) + " that are free: " + parts;
}

std::optional<MemoryVerdict> judge_memory(const RecipePlan& plan, const MemoryQuestion& question) {
  if (!train::find_device(plan.training.train.device).is_cpu()) return std::nullopt;
  const std::optional<int64_t> free = train::available_bytes();
  if (!free) return std::nullopt;
  const int64_t of_process = *free / question.processes;
  MemoryVerdict verdict;
  verdict.free = *free;
  verdict.processes = question.processes;
  const int64_t samples = samples_of_process(plan, question.processes);
  const MemoryTrial trial = question.wants_largest ? MemoryTrial::precise : question.trial;
  const auto curve = StepMemoryCurve::measure(plan, of_process, trial);
  train::release_unused_memory();
  if (!curve) {
    verdict.fits = false;
    verdict.estimate.samples = samples;
    return verdict;
  }
  verdict.estimate = curve->at(samples);
  verdict.fits = verdict.estimate.total() <= of_process;
  if (!verdict.fits || question.wants_largest)
    verdict.most_samples = question.processes *
                           curve->most_samples(static_cast<int64_t>(kChosenFraction * static_cast<double>(of_process)));
  return verdict;
}

std::string refusal_text(const RecipePlan& plan, const MemoryVerdict& verdict, bool resumes) {
  using report::format_bytes;
  const std::string free = "only " + format_bytes(verdict.free) + " are free";
  const std::string smaller =
      resumes ? "; resume the run when more memory is free" : "; make the model or its samples smaller";
  if (verdict.estimate.total() == 0)
    return "out of memory: a step of one sample does not fit, because " + free + smaller;
  std::string text =
      "a step takes about " + format_bytes(verdict.estimate.total() * verdict.processes) + " of memory, but " + free;
  if (resumes) return text + smaller;
  const auto choice = batches_that_fit(plan, verdict.most_samples);
  if (!choice) return text + (verdict.most_samples < 1 ? ", which is too little for one sample" + smaller : smaller);
  const TaskPlan::BatchCount count = plan.task->batch_count(plan.training.train);
  text += "; " + count.key + " = " + std::to_string(verdict.most_samples * count.value_of_sample) +
          " is the largest batch that fits\n";
  const std::vector<std::string> settings = batch_settings(plan, *choice);
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    text += (setting == settings.front()  ? ""
             : setting == settings.back() ? " and "
                                          : ", ") +
            setting.substr(0, equals) + " = " + setting.substr(equals + 1);
  }
  // Statistics of norms and stored caches come from smaller batches, so the gradient of such a model is not the same.
  const bool has_state = has_batch_state(plan);
  text += std::string(" give each step the same ") + (has_state ? "samples" : "gradient") + " as the recipe";
  if (has_state && sets_state(plan, *choice)) text += ", and update the states of norms and caches once per step";
  return text + " (--batch-size auto sets these keys)";
}

std::vector<std::string> settings_that_fit(const RecipePlan& plan, const MemoryVerdict& verdict) {
  if (verdict.fits) return {};
  const auto choice = batches_that_fit(plan, verdict.most_samples);
  if (!choice) throw std::runtime_error(refusal_text(plan, verdict));
  return batch_settings(plan, *choice);
}

}  // namespace cachet::tasks
