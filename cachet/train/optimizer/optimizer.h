#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/optimizer/optimizer_options.h"
#include "cachet/train/optimizer/parameter_groups.h"

namespace cachet::train {

/// The values that a schedule sets for one optimizer step.
struct UpdateRates {
  double learning_rate = 0;
  std::optional<double> momentum{};  // replaces AdamW's first beta or SGD's momentum; empty = no change
};

/// The values of one optimizer step as tensors on the device, so that the device work can be recorded and replayed.
struct DeviceRates {
  std::vector<at::Tensor> learning_rates;  // one scalar for each group: float32, or any floating-point type on the CPU
  std::optional<double> momentum;          // as UpdateRates::momentum
  at::Tensor skipped;                      // float32 scalar: if it is 1, the step changes nothing; otherwise it is 0
};

/// Updates parameters by their gradients with LibTorch's fused operators. In each step, skips parameters without a
/// gradient.
///
/// The class Optimizer replaces torch::optim, which identifies a parameter's state by the parameter's address and saves
/// states as pickle. The state of the class Optimizer consists of tensors named after the parameters.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  virtual void step(const UpdateRates& rates) = 0;
  virtual void step(const DeviceRates& rates) = 0;

  /// Returns the number of groups of parameters that have one learning rate and one weight decay.
  virtual int64_t groups() const = 0;
  /// Returns the learning rate of each group.
  virtual std::vector<double> group_rates(const UpdateRates& rates) const = 0;

  /// Whether a step depends on state from earlier steps, such as momenta, in addition to the parameters.
  virtual bool keeps_state() const = 0;

  /// Returns the state, with names "<parameter>.<quantity>". The returned tensors share storage with the optimizer's
  /// tensors. The state has no tensors for parameters that never had a gradient.
  virtual io::TensorMap state() const = 0;
  /// Restores the state. Throws std::runtime_error with the names of missing, unexpected or differently shaped tensors.
  virtual void load_state(const io::TensorMap& state) = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterGroups groups);

}  // namespace cachet::train
