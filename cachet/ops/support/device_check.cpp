#include "cachet/ops/support/device_check.h"

namespace cachet::ops {

void check_same_device(const char* op, const at::Tensor& first,
                       const std::vector<std::pair<const char*, std::optional<at::Tensor>>>& others) {
  for (const auto& [name, tensor] : others)
    TORCH_CHECK(!tensor || tensor->device() == first.device(), op, ": ", name, " is on ", tensor->device(),
                ", but other operands are on ", first.device());
}

}  // namespace cachet::ops
