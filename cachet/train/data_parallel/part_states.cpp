#include "cachet/train/data_parallel/part_states.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/flagged_modules.h"

namespace cachet::train {
namespace {

std::string state_prefix(int64_t number) { return std::string(kPartPrefix) + std::to_string(number) + "/"; }

std::vector<at::Tensor> tensors_of(const std::vector<io::NamedTensor>& buffers) {
  std::vector<at::Tensor> tensors;
  for (const io::NamedTensor& buffer : buffers) tensors.push_back(buffer.tensor.detach());
  return tensors;
}

/// The saved state of a part that has the buffer's shape and type.
const at::Tensor& saved_state(const io::TensorMap& states, int64_t part, const io::NamedTensor& buffer) {
  const std::string what = buffer.name() + " of part " + std::to_string(part);
  const auto found = states.find(state_prefix(part) + buffer.name());
  if (found == states.end()) throw std::runtime_error("the checkpoint has no " + what);
  const at::Tensor& saved = found->second;
  if (saved.sizes() != buffer.tensor.sizes() || saved.scalar_type() != buffer.tensor.scalar_type())
    throw std::runtime_error("the checkpoint has a different shape or type for " + what);
  return saved;
}

constexpr size_t kPartZero = 0, kBegin = 1;  // of `states_` with "first"

/// How many copies of the model's buffers a process keeps.
int64_t copies_in_memory(const TrainOptions& options) {
  if (!options.has_parts() || options.shard.parts == 1) return 0;
  return options.state == StateRule::separate ? options.shard.parts : 2;
}

}  // namespace

PartStates::PartStates(torch::nn::Module& model, const TrainOptions& options)
    : model_(model), rule_(options.state), shard_(options.shard), buffers_(io::distinct_buffers(model)) {
  if (own() == 1) return;
  flagged_ = flagged_modules(model);
  const RandomStateKept random(model);
  for (int64_t i = 0; i < own(); ++i) {
    if (number(i) > 0) seed_draws(options.seed, number(i));
    generators_.push_back(random_state(model, number(i)));
  }
  for (int64_t copy = 0; copy < copies_in_memory(options); ++copy) states_.push_back(copy_of_model());
}

PartStates::State PartStates::copy_of_model() const {
  State state;
  for (const at::Tensor& buffer : tensors_of(buffers_)) state.tensors.push_back(buffer.clone());
  state.flags = flags_of_model();
  return state;
}

std::vector<bool> PartStates::flags_of_model() const {
  std::vector<bool> flags;
  for (const ops::HostFlag* module : flagged_) flags.push_back(module->host_flag());
  return flags;
}

void PartStates::read(State& state) const {
  const at::NoGradGuard no_grad;
  if (!buffers_.empty()) at::_foreach_copy_(state.tensors, tensors_of(buffers_));
  state.flags = flags_of_model();
}

void PartStates::write(const State& state) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> buffers = tensors_of(buffers_);
  if (!buffers.empty()) at::_foreach_copy_(buffers, state.tensors);
  for (size_t i = 0; i < state.flags.size(); ++i) flagged_[i]->set_host_flag(state.flags[i]);
}

void PartStates::begin(int64_t i) {
  if (own() == 1) return;
  if (i == 0) {  // the model has it
    if (!each_has_its_own()) read(states_[kBegin]);
    return;
  }
  write(states_[each_has_its_own() ? static_cast<size_t>(i) : kBegin]);
  set_random_state(model_, generators_[static_cast<size_t>(i)], number(i));
}

void PartStates::end(int64_t i) {
  if (own() == 1) return;
  generators_[static_cast<size_t>(i)] = random_state(model_, number(i));
  if (each_has_its_own())
    read(states_[static_cast<size_t>(i)]);
  else if (i == 0)
    read(states_[kPartZero]);
}

void PartStates::end_step(processes::ProcessGroup* processes) {
  if (own() > 1) {
    write(states_.front());
    set_random_state(model_, generators_.front(), number(0));
  }
  if (each_has_its_own() || processes == nullptr) return;
  broadcast_tensor(*processes);
}

// All buffers at once, as bytes: numbers of any type keep their bits. The others add zeros.
void PartStates::broadcast_tensor(processes::ProcessGroup& processes) const {
  if (buffers_.empty()) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> pieces;
  std::vector<int64_t> sizes;
  for (const at::Tensor& buffer : tensors_of(buffers_)) {
    pieces.push_back(buffer.contiguous().reshape(-1).view(at::kByte));
    sizes.push_back(pieces.back().numel());
  }
  at::Tensor all = at::cat(pieces);
  if (!processes.leads()) all.zero_();
  processes.all_reduce(all);
  const std::vector<at::Tensor> given = all.split_with_sizes(sizes);
  for (size_t b = 0; b < given.size(); ++b) {
    const at::Tensor buffer = buffers_[b].tensor.detach();
    buffer.copy_(given[b].clone().view(buffer.scalar_type()).view(buffer.sizes()));
  }
}

io::TensorMap PartStates::states() const {
  io::TensorMap map;
  if (!each_has_its_own()) return map;
  const std::vector<at::Tensor> model = tensors_of(buffers_);
  for (int64_t i = 0; i < own(); ++i) {
    if (number(i) == 0) continue;
    const std::vector<at::Tensor>& state = i == 0 ? model : states_[static_cast<size_t>(i)].tensors;
    for (size_t b = 0; b < buffers_.size(); ++b)
      map.emplace(state_prefix(number(i)) + buffers_[b].name(), state[b].clone());
  }
  return map;
}

io::TensorMap PartStates::generators() const {
  io::TensorMap map = random_state(model_, number(0));
  for (size_t i = 1; i < generators_.size(); ++i) map.insert(generators_[i].begin(), generators_[i].end());
  return map;
}

bool PartStates::load(const io::TensorMap& states, const io::TensorMap& generators) {
  const at::NoGradGuard no_grad;
  bool goes_on = true;
  for (int64_t i = own() - 1; i >= 0; --i) {
    goes_on &= set_random_state(model_, generators, number(i));
    if (own() > 1) generators_[static_cast<size_t>(i)] = random_state(model_, number(i));
    if (!each_has_its_own() || number(i) == 0) continue;
    if (i > 0) states_[static_cast<size_t>(i)].flags.clear();
    for (size_t b = 0; b < buffers_.size(); ++b) {
      const at::Tensor& saved = saved_state(states, number(i), buffers_[b]);
      (i == 0 ? buffers_[b].tensor.detach() : states_[static_cast<size_t>(i)].tensors[b]).copy_(saved);
    }
  }
  return goes_on;
}

int64_t state_bytes(const torch::nn::Module& model) {
  int64_t bytes = 0;
  for (const io::NamedTensor& buffer : io::distinct_buffers(model))
    bytes += static_cast<int64_t>(buffer.tensor.nbytes());
  return bytes;
}

PartStateBytes part_state_bytes(const torch::nn::Module& model, const TrainOptions& options) {
  const int64_t saved = options.state == StateRule::separate ? options.shard.all_parts() - 1 : 0;
  const int64_t bytes = state_bytes(model);
  return {copies_in_memory(options) * bytes, saved * bytes};
}

}  // namespace cachet::train
