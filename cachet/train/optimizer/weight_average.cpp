#include "cachet/train/optimizer/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "cachet/io/tensors/state_dict.h"

namespace cachet::train {

namespace {

std::vector<at::Tensor> copies(const std::vector<io::NamedTensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const io::NamedTensor& one : tensors) all.push_back(one.tensor.detach().clone());
  return all;
}

void write(const std::vector<io::NamedTensor>& buffers, const std::vector<at::Tensor>& values) {
  for (size_t i = 0; i < values.size(); ++i) buffers[i].tensor.detach().copy_(values[i]);
}

/// The saved tensor that goes by one of the names and has the shape of `own`.
const at::Tensor& saved_tensor(const io::TensorMap& state, const std::vector<std::string>& names,
                               const at::Tensor& own) {
  const auto name = std::ranges::find_if(names, [&](const std::string& each) { return state.contains(each); });
  if (name == names.end()) throw std::runtime_error("the averaged weights lack " + names.front());
  const at::Tensor& saved = state.at(*name);
  if (saved.sizes() != own.sizes())
    throw std::runtime_error("the averaged weights have a different shape for " + *name);
  return saved;
}

}  // namespace

double AverageOptions::decay_of(int64_t update) const {
  if (!warmup) return decay;
  return std::min(decay, 1 - std::pow(static_cast<double>(update), -2.0 / 3));
}

AverageOptions average_options(const TrainOptions& options) { return {options.ema_decay, options.ema_warmup}; }

std::optional<std::string> slow_decay_note(const AverageOptions& options, int64_t steps) {
  constexpr double kMuch = 0.05;
  if (options.decay == 0 || options.warmup) return std::nullopt;
  const double left = std::pow(options.decay, static_cast<double>(steps));  // of the weights at the start
  if (left <= kMuch) return std::nullopt;
  // The decay that would leave 1 %, with the digits in which such decays differ.
  const double fitting = std::pow(0.01, 1 / static_cast<double>(steps));
  const int digits = 2 + static_cast<int>(std::ceil(std::log10(static_cast<double>(steps))));
  std::ostringstream text;
  text << "train.ema_decay = " << options.decay << " is too slow for " << steps << " steps: " << std::fixed
       << std::setprecision(0) << 100 * left
       << " % of the averaged weights will still be the initial weights; set train.ema_warmup = true, or lower "
          "train.ema_decay to at most "
       << std::defaultfloat << std::setprecision(digits) << fitting;
  return std::move(text).str();
}

WeightAverage::WeightAverage(torch::nn::Module& model, const AverageOptions& options)
    : model_(model), options_(options) {
  for (io::NamedTensor& parameter : io::distinct_parameters(model)) {
    names_.push_back(std::move(parameter.names));
    parameters_.push_back(parameter.tensor.detach());
    averages_.push_back(parameter.tensor.detach().clone());
  }
}

void WeightAverage::update(int64_t step) {
  const at::NoGradGuard no_grad;
  at::_foreach_lerp_(averages_, parameters_, weight_of(step));
  states_.clear();
}

void WeightAverage::update(const at::Tensor& weight) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < averages_.size(); ++i)
    averages_[i].lerp_(parameters_[i], weight.to(averages_[i].scalar_type()));
}

bool WeightAverage::recalibrate(const std::function<void()>& passes) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> before = std::exchange(states_, {});
  const std::vector<io::NamedTensor> buffers = io::distinct_buffers(model_);
  const std::vector<at::Tensor> own = copies(buffers);
  {
    const Applied applied(*this);
    passes();
    states_ = copies(buffers);
  }
  write(buffers, own);
  return !std::ranges::equal(before, states_, [](const at::Tensor& a, const at::Tensor& b) { return a.equal(b); });
}

WeightAverage::Applied::Applied(WeightAverage& average) : average_(average) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : average.parameters_) own_.push_back(parameter.clone());
  at::_foreach_copy_(average.parameters_, average.averages_);
  if (average.states_.empty()) return;
  const std::vector<io::NamedTensor> buffers = io::distinct_buffers(average.model_);
  own_states_ = copies(buffers);
  write(buffers, average.states_);
}

WeightAverage::Applied::~Applied() {
  const at::NoGradGuard no_grad;
  at::_foreach_copy_(average_.parameters_, own_);
  if (!own_states_.empty()) write(io::distinct_buffers(average_.model_), own_states_);
}

io::TensorMap WeightAverage::state() const {
  io::TensorMap map;
  for (size_t i = 0; i < names_.size(); ++i) map.emplace(names_[i].front(), averages_[i]);
  const std::vector<io::NamedTensor> buffers = io::distinct_buffers(model_);
  for (size_t i = 0; i < buffers.size(); ++i)
    map.emplace(buffers[i].name(), states_.empty() ? buffers[i].tensor.detach().clone() : states_[i]);
  return map;
}

void WeightAverage::load_state(const io::TensorMap& state) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < names_.size(); ++i) averages_[i].copy_(saved_tensor(state, names_[i], averages_[i]));
  states_.clear();
  for (const io::NamedTensor& buffer : io::distinct_buffers(model_)) {
    at::Tensor own = buffer.tensor.detach().clone();
    states_.push_back(own.copy_(saved_tensor(state, buffer.names, own)));
  }
}

}  // namespace cachet::train
