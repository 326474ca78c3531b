#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cachet::train {

/// Tensors at fixed addresses for the inputs of steps. Inputs of equal shapes and types always go to the same
/// addresses, so that recorded work finds the inputs of a later step there.
class FixedTensors {
 public:
  /// At most `max_layouts` combinations of shapes and types have addresses, so that the memory is bounded.
  explicit FixedTensors(size_t max_layouts) : max_layouts_(max_layouts) {}

  /// Copies each defined tensor to its address, and replaces `*tensor` by the tensor at this address. Returns a text
  /// that names the shapes, strides and types of all tensors; equal texts mean equal addresses. If there are already
  /// `max_layouts` other combinations, changes nothing and returns std::nullopt.
  std::optional<std::string> place(const std::vector<at::Tensor*>& tensors);

 private:
  size_t max_layouts_;
  std::map<std::string, std::vector<at::Tensor>> by_layout_;
};

}  // namespace cachet::train
