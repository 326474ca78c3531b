#pragma once

#include <torch/types.h>

#include <cstdint>

#include "cachet/nn/base/memoized.h"

namespace cachet::nn {

/// Stores on the host whether a tensor holds values, which means that not all of its elements are 0. If other code has
/// changed the tensor (for example, a loaded checkpoint or averaged weights), of() reads the tensor on the device once.
/// A copy of a HeldValues object begins without a stored result.
class HeldValues {
 public:
  /// Whether the tensor holds values. On the meta device, which has no values, the result is true.
  bool of(const torch::Tensor& tensor) const;
  /// Stores `holds`: whether any of the tensor's current values is not 0.
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
