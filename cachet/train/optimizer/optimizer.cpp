#include "cachet/train/optimizer/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <map>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace cachet::train {
namespace {

/// One parameter and what an optimizer remembers of it, a tensor for each quantity; empty before its first gradient.
struct Slot {
  NamedParameter parameter;
  std::vector<at::Tensor> state;
};

/// A quantity that is stored for each parameter.
struct Quantity {
  std::string_view name;
  bool scalar;  // one number a parameter, else a tensor of its shape
};

at::Tensor initial_state(const Quantity& quantity, const at::Tensor& parameter) {
  return quantity.scalar ? at::zeros({}, parameter.options().dtype(at::kFloat)) : at::zeros_like(parameter);
}

/// What all optimizers share: the groups, and state by name.
class SlotOptimizer : public Optimizer {
 public:
  SlotOptimizer(ParameterGroups groups, std::span<const Quantity> quantities, double weight_decay)
      : quantities_(quantities) {
    add_group(std::move(groups.decayed), weight_decay);
    add_group(std::move(groups.undecayed), 0);
  }

  void step(const UpdateRates& rates) final {
    const at::NoGradGuard no_grad;
    for (Group& group : groups_) {
      Update update = update_of(group);
      const UpdateRates of_group{rates.learning_rate * group.rate, rates.momentum};
      if (!update.parameters.empty()) apply(update, of_group, group.weight_decay);
    }
  }

  void step(const DeviceRates& rates) final {
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < groups_.size(); ++i) {
      Update update = update_of(groups_[i]);
      if (!update.parameters.empty())
        apply(update, rates.learning_rates[i], rates.momentum, rates.skipped, groups_[i].weight_decay);
    }
  }

  int64_t groups() const final { return std::ssize(groups_); }

  std::vector<double> group_rates(const UpdateRates& rates) const final {
    std::vector<double> of_groups;
    for (const Group& group : groups_) of_groups.push_back(rates.learning_rate * group.rate);
    return of_groups;
  }

  bool keeps_state() const final { return !quantities_.empty(); }

  io::TensorMap state() const final {
    io::TensorMap map;
    for (const Group& group : groups_) {
      for (const Slot& slot : group.slots) {
        for (size_t i = 0; i < slot.state.size(); ++i) map.emplace(key(slot, i), slot.state[i]);
      }
    }
    return map;
  }

  void load_state(const io::TensorMap& map) final {
    const at::NoGradGuard no_grad;
    size_t used = 0;
    for (Group& group : groups_) {
      for (Slot& slot : group.slots) used += load_slot(slot, map);
    }
    if (used != map.size()) refuse_unexpected(map);
  }

 protected:
  struct Update {
    std::vector<at::Tensor> parameters, gradients;
    std::vector<std::vector<at::Tensor>> state;  // by quantity
  };
  virtual void apply(Update& update, const UpdateRates& rates, double weight_decay) = 0;
  virtual void apply(Update& update, const at::Tensor& learning_rate, std::optional<double> momentum,
                     const at::Tensor& skipped, double weight_decay) = 0;

 private:
  struct Group {
    double weight_decay, rate;
    std::vector<Slot> slots;
  };

  // Those of one rate are updated together.
  void add_group(std::vector<NamedParameter> parameters, double weight_decay) {
    std::map<double, Group> by_rate;
    for (NamedParameter& parameter : parameters) {
      Group& group = by_rate.try_emplace(parameter.rate, Group{weight_decay, parameter.rate, {}}).first->second;
      group.slots.push_back({std::move(parameter), {}});
    }
    for (auto& [rate, group] : by_rate) groups_.push_back(std::move(group));
  }

  std::string key(const Slot& slot, size_t quantity) const {
    return slot.parameter.name + "." + std::string(quantities_[quantity].name);
  }

  Update update_of(Group& group) const {
    Update update;
    update.state.resize(quantities_.size());
    for (Slot& slot : group.slots) collect(slot, update);
    return update;
  }

  void collect(Slot& slot, Update& update) const {
    const at::Tensor& gradient = slot.parameter.tensor.grad();
    if (!gradient.defined()) return;
    if (slot.state.empty()) {
      for (const Quantity& quantity : quantities_) {
        slot.state.push_back(initial_state(quantity, slot.parameter.tensor));
      }
    }
    update.parameters.push_back(slot.parameter.tensor);
    update.gradients.push_back(gradient);
    for (size_t i = 0; i < slot.state.size(); ++i) update.state[i].push_back(slot.state[i]);
  }

  size_t load_slot(Slot& slot, const io::TensorMap& map) const {
    std::vector<at::Tensor> loaded;
    for (size_t i = 0; i < quantities_.size(); ++i) {
      const auto found = map.find(key(slot, i));
      if (found == map.end()) continue;
      at::Tensor tensor = initial_state(quantities_[i], slot.parameter.tensor);
      if (found->second.sizes() != tensor.sizes() || found->second.scalar_type() != tensor.scalar_type()) {
        throw std::runtime_error("the optimizer's " + key(slot, i) + " must have the shape and type of its parameter");
      }
      loaded.push_back(tensor.copy_(found->second));
    }
    if (!loaded.empty() && loaded.size() != quantities_.size()) {
      throw std::runtime_error("the optimizer's state of " + slot.parameter.name + " is incomplete");
    }
    slot.state = std::move(loaded);
    return slot.state.size();
  }

  [[noreturn]] void refuse_unexpected(const io::TensorMap& map) const {
    const io::TensorMap known = state();
    std::string names;
    for (const auto& [name, tensor] : map) {
      if (!known.contains(name)) names += (names.empty() ? "" : ", ") + name;
    }
    throw std::runtime_error("the optimizer's state has parameters that the model does not have: " + names);
  }

  std::span<const Quantity> quantities_;
  std::vector<Group> groups_;
};

constexpr Quantity kAdamWState[] = {{"exp_avg", false}, {"exp_avg_sq", false}, {"step", true}};

class AdamW final : public SlotOptimizer {
 public:
  AdamW(const OptimizerOptions& options, ParameterGroups groups)
      : SlotOptimizer(std::move(groups), kAdamWState, options.weight_decay), options_(options) {}

 private:
  void apply(Update& update, const UpdateRates& rates, double weight_decay) override {
    at::_foreach_add_(update.state[2], 1);
    at::_fused_adamw_(update.parameters, update.gradients, update.state[0], update.state[1], {}, update.state[2],
                      rates.learning_rate, rates.momentum.value_or(options_.beta1), options_.beta2, weight_decay,
                      options_.epsilon,
                      /*amsgrad=*/false, /*maximize=*/false);
  }

  void apply(Update& update, const at::Tensor& learning_rate, std::optional<double> momentum, const at::Tensor& skipped,
             double weight_decay) override {
    at::_foreach_add_(update.state[2], 1 - skipped);
    at::_fused_adamw_(update.parameters, update.gradients, update.state[0], update.state[1], {}, update.state[2],
                      learning_rate, momentum.value_or(options_.beta1), options_.beta2, weight_decay, options_.epsilon,
                      /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/{}, skipped);
  }

  OptimizerOptions options_;
};

constexpr Quantity kMomentumState[] = {{"momentum", false}};

class Sgd final : public SlotOptimizer {
 public:
  Sgd(const OptimizerOptions& options, ParameterGroups groups)
      : SlotOptimizer(std::move(groups), quantities(options), options.weight_decay), options_(options) {}

 private:
  static std::span<const Quantity> quantities(const OptimizerOptions& options) {
    return std::span(kMomentumState).first(options.momentum > 0 ? 1 : 0);
  }

  void apply(Update& update, const UpdateRates& rates, double weight_decay) override {
    // A momentum that starts at zero makes the first step no special case.
    const at::TensorList momentum = update.state.empty() ? at::TensorList{} : at::TensorList(update.state[0]);
    at::_fused_sgd_(update.parameters, update.gradients, momentum, weight_decay,
                    rates.momentum.value_or(options_.momentum), rates.learning_rate,
                    /*dampening=*/0, options_.nesterov, /*maximize=*/false, /*is_first_step=*/false);
  }

  void apply(Update& update, const at::Tensor& learning_rate, std::optional<double> momentum, const at::Tensor& skipped,
             double weight_decay) override {
    const at::TensorList buffers = update.state.empty() ? at::TensorList{} : at::TensorList(update.state[0]);
    at::_fused_sgd_(update.parameters, update.gradients, buffers, weight_decay, momentum.value_or(options_.momentum),
                    learning_rate, /*dampening=*/0, options_.nesterov, /*maximize=*/false, /*is_first_step=*/false,
                    /*grad_scale=*/{}, skipped);
  }

  OptimizerOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterGroups groups) {
  if (options.kind == OptimizerOptions::Kind::sgd) return std::make_unique<Sgd>(options, std::move(groups));
  return std::make_unique<AdamW>(options, std::move(groups));
}

}  // namespace cachet::train
