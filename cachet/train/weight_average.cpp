#include "cachet/train/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>

#include <stdexcept>

namespace cachet::train {

WeightAverage::WeightAverage(torch::nn::Module& model, double decay) : model_(model), decay_(decay) {
  for (const auto& item : model.named_parameters()) {
    names_.push_back(item.key());
    parameters_.push_back(item.value().detach());
    averages_.push_back(item.value().detach().clone());
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
  for (size_t i = 0; i < names_.size(); ++i) map.emplace(names_[i], averages_[i]);
  for (const auto& item : model_.named_buffers()) map.emplace(item.key(), item.value().detach().clone());
  return map;
}

void WeightAverage::load_state(const io::TensorMap& state) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto found = state.find(names_[i]);
    if (found == state.end()) throw std::runtime_error("the averaged weights lack " + names_[i]);
    if (found->second.sizes() != averages_[i].sizes()) {
      throw std::runtime_error("the averaged weights hold another shape of " + names_[i]);
    }
    averages_[i].copy_(found->second);
  }
}

}  // namespace cachet::train
