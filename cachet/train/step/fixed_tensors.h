#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

namespace cachet::train {

/// Tensors at fixed addresses for the inputs of steps. Inputs of equal shapes and types always go to the same
/// addresses, so that recorded work finds the inputs of a later step there.
class FixedTensors {
 public:
  /// Copies each defined tensor to its address, and replaces `*tensor` by the tensor at this address. Returns a text
  /// that names the shapes, strides and types of all tensors; equal texts mean equal addresses.
  std::string place(const std::vector<at::Tensor*>& tensors);

 private:
  std::map<std::string, std::vector<at::Tensor>> by_layout_;
};

}  // namespace cachet::train
