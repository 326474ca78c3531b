#include "cachet/train/step/live_run.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/train/data_parallel/part_counts.h"
#include "cachet/train/data_parallel/process_states.h"
#include "cachet/train/inference/inference_scope.h"
#include "cachet/train/machine/environment.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/gradients.h"
#include "cachet/train/step/micro_batches.h"
#include "cachet/train/step/outgrown_values.h"
#include "cachet/train/step/recalibration.h"
#include "cachet/train/step/step_graphs.h"

namespace cachet::train {
namespace {

/// The device, with the model on it: the optimizer and the averages are made where the parameters are.
c10::Device placed(torch::nn::Module& model, c10::Device device) {
  place(model, device);
  return device;
}

int64_t bounded_steps(const TrainOptions& options, int64_t steps_per_epoch) {
  const int64_t all = Duration{options.epochs, Duration::Unit::epochs}.steps(steps_per_epoch);
  return options.limit ? std::min(all, options.limit->steps(steps_per_epoch)) : all;
}

/// Tensors by what they are called: "the weight or state".
using CalledTensors = std::pair<const char*, const io::TensorMap*>;

void require_finite(std::initializer_list<CalledTensors> all) {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
  for (const auto& [what, map] : all) {
    for (const auto& [name, tensor] : *map) {
      names.push_back(std::string(what) + " " + name);
      tensors.push_back(tensor);
    }
  }
  if (const auto index = first_non_finite(tensors)) throw NotFinite(names[*index] + " is not finite");
}

/// The sums of a run whose loss column has the penalty in it.
std::vector<MetricSum> with_penalty_in_loss(std::vector<MetricSum> sums) {
  const auto penalty = std::ranges::find(sums, "penalty", &MetricSum::name);
  if (penalty == sums.end()) return sums;
  std::ranges::find(sums, "loss", &MetricSum::name)->total += penalty->total;
  sums.erase(penalty);
  return sums;
}

int64_t bytes_of(const io::TensorMap& tensors) {
  int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

int64_t steps_of_epoch(const TrainOptions& options, int64_t batches_per_epoch) {
  return (batches_per_epoch + options.accumulate - 1) / options.accumulate;
}

}  // namespace

RunLength run_length(const TrainOptions& options, int64_t batches_per_epoch) {
  const int64_t steps_per_epoch = steps_of_epoch(options, batches_per_epoch),
                total_steps = bounded_steps(options, steps_per_epoch);
  // Each micro-batch moves a shared state; of others, each is moved by one part of a step.
  const int64_t rest = std::min(batches_per_epoch, total_steps % steps_per_epoch * options.accumulate);
  return {total_steps, options.has_parts() ? total_steps : total_steps / steps_per_epoch * batches_per_epoch + rest};
}

LiveRun::LiveRun(TrainingTask& task, const Options& options, std::shared_ptr<processes::ProcessGroup> processes,
                 std::shared_ptr<StepExecutor> executor)
    : task_(task),
      options_(options),
      processes_(std::move(processes)),
      device_(placed(task.model(), find_device(options.train.device))),
      parts_(options.train.has_parts() ? std::make_unique<PartStates>(task.model(), options.train) : nullptr),
      training_step_(task, options, processes_, parts_.get()),
      batches_per_epoch_(checked_batches(task)),
      steps_per_epoch_(steps_of_epoch(options.train, batches_per_epoch_)),
      total_steps_(bounded_steps(options.train, steps_per_epoch_)),
      schedule_(options.schedule, options.optimizer.learning_rate, total_steps_, steps_per_epoch_),
      renews_average_(options.train.ema_decay > 0 && options.train.ema_renew_states > 0 && has_states(task.model())) {
  // Other processes than rank 0 need the average for its states alone, which are sums over all of them unless parts
  // have states of their own.
  if (parts_ && rank() > 0) renews_average_ = false;
  const AverageOptions average = average_options(options.train);
  if (average.decay > 0 && (rank() == 0 || renews_average_)) average_.emplace(task.model(), average);
  if (!executor) {
    GraphPlan plan = graph_plan(task, options_, device_, world_size());
    executor = make_executor(plan, options_, device_);
    if (!plan.note.empty()) step_notes_.push_back(std::move(plan.note));
  }
  task.round_shapes(executor != nullptr);
  if (executor && !task.why_inference_not_replayed()) task.replay_inference(executor);
  if (executor && processes_)
    training_step_.replay_passes(std::move(executor));
  else if (executor)
    device_step_ =
        std::make_unique<DeviceStep>(task, options_.train, training_step_.parameters(), training_step_.optimizer(),
                                     average_ ? &*average_ : nullptr, std::move(executor));
  task.settle(length());
  task.model().train();
  if (rank() > 0) seed_draws(options.train.seed, rank());
}

LiveRun::~LiveRun() { task_.replay_inference(nullptr); }

StepSummary LiveRun::advance(int stop_signal) {
  if (!batches_) open_batches({});
  // The last accumulation of an epoch takes what is left of it.
  const int64_t micro_batches = std::min(options_.train.accumulate, batches_per_epoch_ - state.batch);
  const StepPosition here = position();
  StepSummary result = named([&] { return take_step(micro_batches, stop_signal); });
  if (device_step_) unread_ = here;
  move_cursor(micro_batches);
  state.step += 1;
  if (average_ && !device_step_) average_->update(state.step);
  state.samples += result.samples;
  state.evaluated = false;
  add_numbers(result);
  return result;
}

StepSummary LiveRun::settle() {
  if (!device_step_) return nothing_read();
  StepSummary result = named([&] { return device_step_->settle(); });
  unread_.reset();
  add_numbers(result);
  return result;
}

std::vector<std::string> LiveRun::take_step_notes() {
  std::vector<std::string> notes = std::exchange(step_notes_, {});
  std::vector<std::string> of_steps = device_step_ ? device_step_->take_notes() : training_step_.take_notes();
  notes.insert(notes.end(), of_steps.begin(), of_steps.end());
  return notes;
}

void LiveRun::add_numbers(const StepSummary& result) {
  add_sums(state.running, state.penalty_in_loss ? with_penalty_in_loss(result.sums) : result.sums);
  state.running_norm += result.gradient_norm;
  state.running_steps += result.read_steps;
}

void LiveRun::require_settled() const {
  if (unread_) throw std::logic_error("the last step is still under way: call settle() first");
}

void LiveRun::fill_batches() {
  if (!batches_) open_batches({});
  batches_->fill_state(batches_per_epoch_ / 2);
}

StepSummary LiveRun::take_step(int64_t micro_batches, int stop_signal) {
  const UpdateRates rates = schedule_.rates(state.step);
  if (!device_step_) return training_step_.run(*batches_, micro_batches, rates, stop_signal);
  StepSummary result =
      device_step_->run(*batches_, micro_batches, rates, average_ ? average_->weight_of(state.step + 1) : 0);
  result.stop_signal = stop_signal;
  return result;
}

StepSummary LiveRun::named(const std::function<StepSummary()>& step) const {
  try {
    return step();
  } catch (const NotFinite& error) {
    const auto what = outgrown_value(task_.model());
    if (!what) throw;
    throw NotFinite(std::string(error.what()) + "; " + *what);
  }
}

void LiveRun::move_cursor(int64_t micro_batches) {
  state.batch += micro_batches;
  if (state.batch < batches_per_epoch_) return;
  state.batch = 0;
  state.epoch += 1;
  batches_.reset();
}

void LiveRun::open_batches(const io::TensorMap& carried) {
  batches_ = task_.training_batches(state.epoch, state.batch);
  for (int64_t i = 0; i < own_parts(); ++i)
    if (const io::TensorMap own = carried_by(carried, part_number(i)); !own.empty()) batches_->restore(i, own);
}

io::TensorMap LiveRun::own_generators() const {
  return parts_ ? parts_->generators() : random_state(task_.model(), rank());
}

io::TensorMap LiveRun::own_carried() const {
  io::TensorMap own;
  if (!batches_) return own;
  for (int64_t i = 0; i < own_parts(); ++i) {
    const int64_t number = part_number(i);
    for (auto& [name, tensor] : batches_->state(i))
      own.emplace(number == 0 ? name : carried_name(name, number), tensor);
  }
  return own;
}

Checkpoint LiveRun::capture() const {
  require_settled();
  Checkpoint checkpoint;
  checkpoint.carried = own_carried();
  checkpoint.random = own_generators();
  if (parts_) checkpoint.parts = parts_->states();
  // First of all: the others wait for it, whatever is found to be wrong.
  if (processes_) add_states_of_others(checkpoint, processes_->gather(own_state()));
  checkpoint.model = io::state_dict(task_.model());
  checkpoint.optimizer = training_step_.optimizer().state();
  if (average_) checkpoint.ema = average_->state();
  require_finite({{"the weight or state", &checkpoint.model},
                  {"the optimizer state", &checkpoint.optimizer},
                  {"the averaged weight or state", &checkpoint.ema},
                  {"the session state", &checkpoint.carried},
                  {"the state", &checkpoint.parts}});
  checkpoint.state = state;
  checkpoint.state.seed = options_.train.seed;
  checkpoint.state.threads = at::get_num_threads();
  checkpoint.state.world_size = world_size();
  checkpoint.state.parts = parts_ ? parts_->all() : 0;
  checkpoint.state.cachet_version = cachet_version();
  checkpoint.state.torch_version = torch_version();
  return checkpoint;
}

int64_t LiveRun::expected_checkpoint_bytes() const {
  const int64_t models = options_.train.ema_decay > 0 ? 2 : 1;
  constexpr int64_t kMoments = 2;
  return (models + kMoments) * training_step_.parameter_bytes() + models * state_bytes(task_.model()) +
         part_state_bytes(task_.model(), options_.train).in_checkpoint;
}

MemoryUse LiveRun::memory_use() const {
  MemoryUse use;
  use.weights = training_step_.parameter_bytes();
  use.states = state_bytes(task_.model()) + part_state_bytes(task_.model(), options_.train).in_memory;
  for (const NamedParameter& parameter : training_step_.parameters())
    if (const at::Tensor& gradient = parameter.tensor.grad(); gradient.defined())
      use.gradients += static_cast<int64_t>(gradient.nbytes());
  use.optimizer = bytes_of(training_step_.optimizer().state());
  if (average_) use.optimizer += use.weights;
  return use;
}

std::vector<std::string> LiveRun::restore(const Checkpoint& checkpoint) {
  require_settled();
  require_as_many_parts(checkpoint.state, options_.train);
  const TrainState saved = recounted(checkpoint.state);
  if (saved.batch < 0 || saved.batch >= batches_per_epoch_ || saved.epoch < 0 || saved.step < 0) {
    throw std::runtime_error("the checkpoint was saved at batch " + std::to_string(saved.batch) +
                             ", but the number of batches in an epoch is " + std::to_string(batches_per_epoch_) +
                             ": the training data changed");
  }
  io::load_state_dict(task_.model(), checkpoint.model, {.conversion = io::LoadPolicy::Conversion::kNone});
  if (saved.step > 0 && checkpoint.optimizer.empty() && training_step_.optimizer().keeps_state())
    throw std::runtime_error("the checkpoint must have a state of the optimizer after " +
                             config::counted(saved.step, "step") +
                             ", but optimizer.safetensors is empty; resume from another checkpoint");
  training_step_.optimizer().load_state(checkpoint.optimizer);
  if (average_) average_->load_state(checkpoint.ema);
  if (device_step_) device_step_->forget();
  training_step_.forget_passes();
  state = saved;
  batches_.reset();
  const bool as_many = saved.world_size == world_size();
  if (as_many) use_threads(std::max<int64_t>(1, saved.threads));  // others add in another order
  if (state.batch > 0) open_batches(as_many || parts_ ? checkpoint.carried : io::TensorMap());
  // Last: nothing before it may draw from it.
  if (parts_) return restore_parts(checkpoint);
  std::vector<std::string> notes;
  if (!as_many) {
    notes.push_back(
        "the checkpoint was saved with " + config::counted(saved.world_size, "process", "processes") +
        ", but now there " + (world_size() == 1 ? "is " : "are ") + std::to_string(world_size()) +
        ". The run continues, but draws other random numbers" +
        (checkpoint.carried.empty() ? "" : ", and the state that the run keeps from batch to batch is reset"));
    if (rank() > 0) seed_draws(options_.train.seed, rank());
    if (rank() == 0) set_random_state(task_.model(), checkpoint.random);
  } else if (!set_random_state(task_.model(), checkpoint.random, rank())) {
    notes.push_back("the checkpoint was made on another kind of device than " + device_.str() +
                    ". The run continues, but its results will not be bit-identical");
  }
  return notes;
}

TrainState LiveRun::recounted(TrainState saved) const {
  if (!parts_) return saved;
  const int64_t then = saved.parts / saved.world_size;
  if (saved.batch % then != 0) throw std::runtime_error("the checkpoint was saved in the middle of a step");
  saved.batch = saved.batch / then * parts_->own();
  return saved;
}

std::vector<std::string> LiveRun::restore_parts(const Checkpoint& checkpoint) {
  std::vector<std::string> notes;
  const int64_t then = checkpoint.state.world_size;
  if (then != world_size())
    notes.push_back("the " + std::to_string(parts_->all()) + " parts of a step were computed by " +
                    config::counted(then, "process", "processes") + ", and now by " +
                    config::counted(world_size(), "process", "processes") +
                    ". The run continues, but adds numbers in another order, so results differ by rounding");
  if (!parts_->load(checkpoint.parts, checkpoint.random))
    notes.push_back("the checkpoint was made on another kind of device than " + device_.str() +
                    ". The run continues, but its results will not be bit-identical");
  return notes;
}

std::string LiveRun::own_state() const {
  io::TensorMap own;
  if (rank() > 0) {  // rank 0 has its own at hand
    own = own_generators();
    own.merge(own_carried());
    if (parts_) own.merge(parts_->states());
  }
  return packed_state(std::move(own), common_tensors());
}

io::TensorMap LiveRun::common_tensors() const {
  if (!parts_ || options_.train.state == StateRule::first) return io::state_dict(task_.model());
  io::TensorMap parameters;
  for (const io::NamedTensor& parameter : io::distinct_parameters(task_.model()))
    parameters.emplace(parameter.name(), parameter.tensor.detach());
  return parameters;
}

void LiveRun::send_state() const { processes_->gather(own_state()); }

bool LiveRun::renew_average(const std::function<void(int64_t, int64_t)>& passed) {
  if (!renews_average_) return false;
  require_settled();
  const RandomStateKept random(task_.model());
  const int64_t count = options_.train.ema_renew_states;
  const bool renewed = average_->recalibrate([&] {
    const auto tell = [&](int64_t done) {
      if (passed) passed(done, count);
    };
    pass_for_states(task_, options_.train.precision, count, tell, own_parts());
  });
  task_.model().train();
  return renewed;
}

Metrics LiveRun::evaluate(const EvaluationProgress& progress) {
  require_settled();
  const io::TensorMap weights = io::state_dict(task_.model());
  require_finite({{"the weight or state", &weights}});
  const RandomStateKept random(task_.model());
  const InferenceScope inference(task_.model(), {.precision = options_.train.precision});
  std::optional<WeightAverage::Applied> averaged;
  if (average_) averaged.emplace(*average_);
  return task_.evaluate(progress);
}

}  // namespace cachet::train
