#pragma once

#include <torch/types.h>

#include <cstdint>

#include "cachet/nn/base/memoized.h"

namespace cachet::nn {

/// Stores on the host whether a tensor holds values, which means that it is not all zeros. If other code has written
/// the tensor (a loaded checkpoint, averaged weights), the device is read once. A copy of this object has no
/// stored answer.
class HeldValues {
 public:
  /// Whether the tensor holds values. True on the meta device, which has no values.
  bool of(const torch::Tensor& tensor) const;
  /// Sets the answer for the current values of the tensor.
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
