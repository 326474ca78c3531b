#include "cachet/train/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>

#include <algorithm>
#include <stdexcept>

#include "cachet/io/state_dict.h"

namespace cachet::train {

WeightAverage::WeightAverage(torch::nn::Module& model, double decay) : model_(model), decay_(decay) {
  for (io::NamedTensor& parameter : io::distinct_parameters(model)) {
    names_.push_back(std::move(parameter.names));
    parameters_.push_back(parameter.tensor.detach());
    averages_.push_back(parameter.tensor.detach().clone());
  }
}

void WeightAverage::update() {
  const at::NoGradGuard no_grad;
  at::_foreach_lerp_(averages_, parameters_, 1 - decay_);
}

WeightAverage::Applied::Applied(WeightAverage& average) : average_(average) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : average.parameters_) own_.push_back(parameter.clone());
  at::_foreach_copy_(average.parameters_, average.averages_);
}

WeightAverage::Applied::~Applied() {
  const at::NoGradGuard no_grad;
  at::_foreach_copy_(average_.parameters_, own_);
}

io::TensorMap WeightAverage::state() const {
  io::TensorMap map;
  for (size_t i = 0; i < names_.size(); ++i) map.emplace(names_[i].front(), averages_[i]);
  for (const io::NamedTensor& buffer : io::distinct_buffers(model_)) {
    map.emplace(buffer.name(), buffer.tensor.detach().clone());
  }
  return map;
}

void WeightAverage::load_state(const io::TensorMap& state) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto name = std::ranges::find_if(names_[i], [&](const std::string& each) { return state.contains(each); });
    if (name == names_[i].end()) throw std::runtime_error("the averaged weights lack " + names_[i].front());
    const at::Tensor& average = state.at(*name);
    if (average.sizes() != averages_[i].sizes()) {
      throw std::runtime_error("the averaged weights hold another shape of " + *name);
    }
    averages_[i].copy_(average);
  }
}

}  // namespace cachet::train
