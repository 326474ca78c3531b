#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cachet::train {

/// Tensors at fixed addresses for the inputs of steps. Inputs of equal shapes and types always go to the same
/// addresses, so that recorded work finds the inputs of a later step there.
class FixedTensors {
 public:
  /// At most `max_layouts` combinations of shapes and types have addresses. The tensors at these addresses have at most
  /// `max_bytes` bytes.
  explicit FixedTensors(size_t max_layouts, int64_t max_bytes = std::numeric_limits<int64_t>::max())
      : max_layouts_(max_layouts), free_bytes_(max_bytes) {}

  /// Copies each defined tensor to its address, and replaces `*tensor` by the tensor at this address. Returns a text
  /// that names the shapes, strides and types of all tensors; equal texts mean equal addresses. If a new combination
  /// would exceed a limit, changes nothing and returns std::nullopt.
  std::optional<std::string> place(const std::vector<at::Tensor*>& tensors);

 private:
  size_t max_layouts_;
  int64_t free_bytes_;
  std::map<std::string, std::vector<at::Tensor>> by_layout_;
};

}  // namespace cachet::train
