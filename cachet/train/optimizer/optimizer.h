#pragma once

#include <memory>
#include <optional>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/optimizer/optimizer_options.h"
#include "cachet/train/optimizer/parameter_groups.h"

namespace cachet::train {

/// The values that a schedule sets for one step.
struct UpdateRates {
  double learning_rate = 0;
  std::optional<double> momentum{};  // replaces AdamW's first beta, or SGD's momentum; empty = the option's
};

/// Updates parameters by their gradients with LibTorch's fused operators. Skips parameters without a gradient in a
/// step.
///
/// Replaces torch::optim, which keys its state by the addresses of parameters and saves it as pickle. The state of this
/// class consists of tensors named after the parameters.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  virtual void step(const UpdateRates& rates) = 0;

  /// Whether a step leaves state for the next one, other than the parameters.
  virtual bool keeps_state() const = 0;

  /// Returns "<parameter>.<quantity>"; the tensors have the optimizer's own storage. Parameters that never had a
  /// gradient are absent.
  virtual io::TensorMap state() const = 0;
  /// Restores the state. Throws std::runtime_error that names tensors that are missing, unexpected or of another shape.
  virtual void load_state(const io::TensorMap& state) = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterGroups groups);

}  // namespace cachet::train
