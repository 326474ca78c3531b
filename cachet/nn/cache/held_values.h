#pragma once

#include <torch/types.h>

#include <cstdint>

#include "cachet/nn/base/memoized.h"

namespace cachet::nn {

/// Stores on the host whether a tensor holds values, which means that it is not all zeros. If other code has changed
/// the tensor (for example, a loaded checkpoint or averaged weights), the answer is read from the device once. A copy
/// of a HeldValues object has no stored answer about the tensor.
class HeldValues {
 public:
  /// Whether the tensor holds values. On the meta device, which has no values, the result is true.
  bool of(const torch::Tensor& tensor) const;
  /// Stores the answer for the current values of the tensor: whether it holds values.
  void set(const torch::Tensor& tensor, bool holds);

 private:
  struct Answer {
    const c10::TensorImpl* tensor;
    uint32_t version;  // version of the tensor's values; each write in place increments it
    bool holds;
  };
  mutable Memoized<Answer> answer_;
};

}  // namespace cachet::nn
