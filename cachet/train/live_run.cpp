#include "cachet/train/live_run.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "cachet/io/state_dict.h"
#include "cachet/train/environment.h"
#include "cachet/train/gradients.h"
#include "cachet/train/runtime.h"

namespace cachet::train {
namespace {

/// The device, with the model on it: the optimizer and the averages are made where the parameters are.
c10::Device placed(torch::nn::Module& model, c10::Device device) {
  place(model, device);
  return device;
}

int64_t checked_batches(const Task& task) {
  const int64_t batches = task.batches_per_epoch();
  if (batches < 1) {
    throw std::runtime_error("an epoch has no batch: the training set is smaller than train.batch_size; lower that");
  }
  return batches;
}

int64_t bounded_steps(const TrainOptions& options, int64_t steps_per_epoch) {
  const int64_t all = Span{options.epochs, Span::Unit::epochs}.steps(steps_per_epoch);
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

/// Evaluation mode until the end of the scope.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& model) : model_(model) { model_.eval(); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;
  ~EvaluationMode() { model_.train(); }

 private:
  torch::nn::Module& model_;
};

}  // namespace

LiveRun::LiveRun(Task& task, const Options& options)
    : task_(task),
      options_(options),
      device_(placed(task.model(), find_device(options.train.device))),
      training_step_(task, options),
      batches_per_epoch_(checked_batches(task)),
      steps_per_epoch_((batches_per_epoch_ + options.train.accumulate - 1) / options.train.accumulate),
      total_steps_(bounded_steps(options.train, steps_per_epoch_)),
      schedule_(options.schedule, options.optimizer.learning_rate, total_steps_, steps_per_epoch_) {
  if (options.train.ema_decay > 0) average_.emplace(task.model(), options.train.ema_decay);
  task.model().train();
}

TrainingStep::Result LiveRun::advance() {
  if (!stream_) open_stream({});
  // The last accumulation of an epoch takes what is left of it.
  const int64_t micro_batches = std::min(options_.train.accumulate, batches_per_epoch_ - state.batch);
  TrainingStep::Result result = training_step_.run(*stream_, micro_batches, learning_rate());
  if (average_) average_->update();
  move_cursor(micro_batches);
  state.step += 1;
  state.samples += result.samples;
  state.evaluated = false;
  add_sums(state.running, state.penalty_in_loss ? with_penalty_in_loss(result.sums) : result.sums);
  state.running_norm += result.gradient_norm;
  state.running_steps += 1;
  return result;
}

void LiveRun::move_cursor(int64_t micro_batches) {
  state.batch += micro_batches;
  if (state.batch < batches_per_epoch_) return;
  state.batch = 0;
  state.epoch += 1;
  stream_.reset();
}

void LiveRun::open_stream(const io::TensorMap& stream_state) {
  stream_ = task_.training_stream(state.epoch, state.batch);
  if (!stream_state.empty()) stream_->restore(stream_state);
}

Checkpoint LiveRun::capture() const {
  Checkpoint checkpoint;
  checkpoint.model = io::state_dict(task_.model());
  checkpoint.optimizer = training_step_.optimizer().state();
  if (average_) checkpoint.ema = average_->state();
  if (stream_) checkpoint.stream = stream_->state();
  require_finite({{"the weight or state", &checkpoint.model},
                  {"the optimizer's", &checkpoint.optimizer},
                  {"the averaged weight or state", &checkpoint.ema},
                  {"the stream's", &checkpoint.stream}});
  checkpoint.random = random_state(task_.model());
  checkpoint.state = state;
  checkpoint.state.seed = options_.train.seed;
  checkpoint.state.threads = at::get_num_threads();
  checkpoint.state.cachet_version = cachet_version();
  checkpoint.state.torch_version = torch_version();
  return checkpoint;
}

std::vector<std::string> LiveRun::restore(const Checkpoint& checkpoint) {
  const TrainState& saved = checkpoint.state;
  if (saved.batch < 0 || saved.batch >= batches_per_epoch_ || saved.epoch < 0 || saved.step < 0) {
    throw std::runtime_error("the checkpoint stands at batch " + std::to_string(saved.batch) +
                             " of an epoch that has " + std::to_string(batches_per_epoch_) +
                             ": the training data changed");
  }
  io::load_state_dict(task_.model(), checkpoint.model, {.conversion = io::LoadPolicy::Conversion::kNone});
  training_step_.optimizer().load_state(checkpoint.optimizer);
  if (average_) average_->load_state(checkpoint.ema);
  state = saved;
  at::set_num_threads(static_cast<int>(std::max<int64_t>(1, saved.threads)));  // other counts add in another order
  stream_.reset();
  if (state.batch > 0) open_stream(checkpoint.stream);
  // Last: nothing before it may draw from it.
  if (set_random_state(task_.model(), checkpoint.random)) return {};
  return {"the checkpoint was made on another kind of device than " + device_.str() +
          ": the run goes on, but not bit by bit as it would have"};
}

Metrics LiveRun::evaluate(const EvaluationProgress& progress) {
  const io::TensorMap weights = io::state_dict(task_.model());
  require_finite({{"the weight or state", &weights}});
  const at::NoGradGuard no_grad;
  const RandomStateKept random(task_.model());
  const EvaluationMode mode(task_.model());
  std::optional<WeightAverage::Applied> averaged;
  if (average_) averaged.emplace(*average_);
  const PrecisionScope precision(options_.train.precision, device_.type());
  return task_.evaluate(progress);
}

}  // namespace cachet::train
