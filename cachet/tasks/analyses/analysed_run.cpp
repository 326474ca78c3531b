#include "cachet/tasks/analyses/analysed_run.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/utils.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cachet/data/fingerprint.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/tasks/evaluated_run.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/inference/inference_scope.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/step/micro_batches.h"

namespace cachet::tasks {
namespace {

// What is computed of what passes by is not part of the model's arithmetic: no autocast.
nn::Listener in_full_precision(const nn::Listener& listener) {
  return nn::Listener(
      [listener](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
        const at::NoGradGuard no_grad;
        listener(path, signal, value);
      },
      listener.wanted());
}

// Of its weights; a checkpoint that is damaged is refused where an analysis reads it.
std::string digest_of_checkpoint(const std::filesystem::path& checkpoint) {
  try {
    return train::weights_digest(checkpoint);
  } catch (const std::runtime_error&) {
    return "damaged";
  }
}

// The same run over fewer evaluation samples.
SavedRun opened_for_samples(const std::filesystem::path& path, std::vector<std::string> settings, const TaskPlan& task,
                            const AnalysisOptions& options) {
  for (std::string& setting : task.settings_for_batches_of(options.batch)) settings.push_back(std::move(setting));
  SavedRun saved = open_saved_run(path, settings);
  saved.plan = with_fewer_samples(std::move(saved.plan), options.samples);
  return saved;
}

}  // namespace

AnalysedRun::AnalysedRun(std::string name, const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const AnalysisOptions& options, c10::Device device)
    : name_(std::move(name)),
      path_(path),
      settings_(settings),
      options_(options),
      device_(device),
      saved_(open_saved_run(path, settings)) {
  if (saved_.exported)
    throw io::Error(
        path.string() +
        " is an export, and the layers of an export cannot be analysed; name the run or model that was exported");
  digest_ = weights_digest(saved_) + '\0' + saved_.what_answers_depend_on;
  for (const train::HeldCheckpoint& checkpoint : saved_checkpoints())
    digest_ += '\0' + digest_of_checkpoint(checkpoint.folder);
}

const std::string& AnalysedRun::digest(AnalysisEffort effort) {
  std::string& digest = digests_[effort];
  if (!digest.empty()) return digest;
  Task& task = task_of(effort);
  std::string all = digest_ + '\0' + task.digest_of_comparisons();
  for (const auto& [split, data] : task.data_digests()) all += '\0' + split + '\0' + data.identity();
  return digest = io::sha256_hex(all);
}

void AnalysedRun::keep_image_digests(AnalysisEffort effort) {
  for (const auto& [split, images] : task_of(effort).image_sources()) images->keep_digests();
}

ImagesRead AnalysedRun::images_read(AnalysisEffort effort) {
  ImagesRead read;
  for (const auto& [split, images] : task_of(effort).image_sources())
    if (auto files = images->files_read(); !files.empty()) read.images[split] = std::move(files);
  read.digest = digest_of_images(effort, read.images);
  return read;
}

std::string AnalysedRun::digest_of_images(AnalysisEffort effort,
                                          const std::map<std::string, std::vector<int64_t>>& images) {
  const auto sources = task_of(effort).image_sources();
  data::Fingerprint all;
  for (const auto& [split, indices] : images) {
    const auto source = sources.find(split);
    if (source == sources.end()) return {};
    for (const int64_t index : indices) {
      if (index < 0 || index >= source->second->size()) return {};
      all.add(source->second->image_digest(index));
    }
  }
  return all.text();
}

std::unique_ptr<Task> AnalysedRun::opened(const SavedRun& saved, Splits splits) const {
  auto task = tasks::load(saved, splits);
  train::place(task->model(), device_);
  return task;
}

Task& AnalysedRun::evaluation() {
  if (!evaluation_)
    evaluation_ = opened(opened_for_samples(path_, settings_, *saved_.plan.task, options_), Splits::test);
  return *evaluation_;
}

std::optional<int64_t> AnalysedRun::samples() const {
  return evaluation_ ? std::optional(evaluation_->evaluation_size()) : std::nullopt;
}

std::string AnalysedRun::samples_text() const {
  if (!evaluation_) return {};
  const int64_t looked_at = evaluation_->evaluation_size(), all = evaluation_->evaluated_samples().split;
  const std::string count = std::to_string(looked_at) + (looked_at == 1 ? " evaluation sample" : " evaluation samples");
  if (looked_at >= all) return count;
  const std::optional<uint64_t> seed = saved_.plan.task->seed_of_samples();
  return seed ? count + " of " + std::to_string(all) + ", drawn by seed " + std::to_string(*seed)
              : "the first " + count;
}

std::optional<int64_t> AnalysedRun::step() const {
  if (!train::is_run_folder(saved_.run)) return std::nullopt;
  return train::step_of_checkpoint(saved_.checkpoint);
}

Task& AnalysedRun::training() {
  if (!training_) training_ = opened(saved_, Splits::both);
  return *training_;
}

train::Metrics AnalysedRun::evaluate(const nn::Listener& listener, const train::EvaluationProgress& progress) {
  Task& task = evaluation();
  const train::RandomStateKept random(task.model());
  const train::InferenceScope inference(task.model(), {.precision = saved_.plan.training.train.precision});
  std::optional<nn::Observation> observation;
  if (listener) observation.emplace(task.model(), in_full_precision(listener));
  return task.evaluate(progress);
}

AnalysedRun::RecordedEvaluation AnalysedRun::evaluate_with_records(const train::EvaluationProgress& progress) {
  auto* task = dynamic_cast<EvaluatesRecords*>(&evaluation());
  if (task == nullptr) return {evaluate(nullptr, progress)};
  const train::RandomStateKept random(model());
  const train::InferenceScope inference(model(), {.precision = saved_.plan.training.train.precision});
  RecordedEvaluation result;
  task->record_evaluation(0, [&](const Record& record) {
    result.records.push_back(record);
    progress(static_cast<int64_t>(result.records.size()), task->evaluation_records());
  });
  size_t next = 0;
  result.metrics = task->evaluate_records([&]() -> std::optional<Record> {
    if (next == result.records.size()) return std::nullopt;
    return result.records[next++];
  });
  return result;
}

void AnalysedRun::replay(const std::function<Replay(torch::nn::Module& model)>& look,
                         const train::EvaluationProgress& progress) {
  torch::nn::Module& model = training().model();
  const train::RandomStateKept random(model);
  const BuffersKept buffers(model);
  torch::manual_seed(saved_.plan.training.train.seed);
  training_->settle({options_.steps, options_.steps});  // of a model folder whose recipe was never a run's
  model.train();
  const Replay replay = look(model);
  const nn::Observation observation(model, in_full_precision(replay.listener));
  const auto take = [&](train::TrainingBatches& batches, int64_t step) {
    train::ForwardResult result;
    {
      const train::PrecisionScope precision(saved_.plan.training.train.precision, device_.type());
      result = batches.forward();
    }
    if (result.weight > 0) {
      at::Tensor objective = result.loss / result.weight;
      if (result.penalty.defined()) objective = objective + result.penalty;
      objective.backward();
    }
    for (at::Tensor& parameter : model.parameters()) parameter.mutable_grad().reset();
    replay.after_step();
    progress(step, options_.steps);
  };
  const int64_t own_parts = saved_.plan.training.train.shard.parts;
  if (train::for_each_micro_batch(*training_, options_.steps, take, own_parts) < options_.steps)
    throw std::runtime_error(name_ + ": its training data have no batch in an epoch");
  model.eval();
}

std::vector<train::HeldCheckpoint> AnalysedRun::saved_checkpoints() const {
  if (!train::is_run_folder(saved_.run)) return {};
  constexpr size_t kAll = std::numeric_limits<size_t>::max();
  auto kept = train::hold_newest_checkpoints(train::RunFolder::open(saved_.run).checkpoints(), kAll);
  if (kept.size() < 2) return {};
  std::ranges::reverse(kept);
  return kept;
}

void AnalysedRun::over_checkpoints(torch::nn::Module& model, const std::function<void(int64_t step)>& look) const {
  const io::LoadPolicy same{.conversion = io::LoadPolicy::Conversion::kNone};
  const auto put_back = [&] { io::load_state_dict(model, read_weights(saved_), same); };
  try {
    for (const train::HeldCheckpoint& checkpoint : saved_checkpoints()) {
      io::load_state_dict(model, train::read_weights(checkpoint.folder), same);
      look(train::step_of_checkpoint(checkpoint.folder));
    }
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
}

BuffersKept::BuffersKept(torch::nn::Module& model) {
  for (const io::NamedTensor& buffer : io::distinct_buffers(model))
    kept_.emplace_back(buffer.tensor, buffer.tensor.detach().clone());
}

BuffersKept::~BuffersKept() {
  const at::NoGradGuard no_grad;
  for (auto& [buffer, held] : kept_) buffer.copy_(held);
}

}  // namespace cachet::tasks
