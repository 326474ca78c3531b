#pragma once

#include <torch/types.h>

#include <cstdint>

#include "cachet/nn/base/memoized.h"

namespace cachet::nn {

/// Whether a tensor holds values, which means that it is not zero everywhere. The answer is stored on the host.
/// The device is read only once after other code has written the tensor (a loaded checkpoint, averaged
/// weights). A copy has no answer yet.
class HeldValues {
 public:
  /// True on the meta device, which has no values.
  bool of(const torch::Tensor& tensor) const;
  /// Sets the answer for the tensor's present values.
  void set(const torch::Tensor& tensor, bool holds);

 private:
  struct Answer {
    const c10::TensorImpl* tensor;
    uint32_t version;  // version of its values: each write in place counts
    bool holds;
  };
  mutable Memoized<Answer> answer_;
};

}  // namespace cachet::nn
