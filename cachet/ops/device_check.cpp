#include "cachet/ops/device_check.h"

namespace cachet::ops {

void check_same_device(const char* op, const at::Tensor& first,
                       const std::vector<std::pair<const char*, std::optional<at::Tensor>>>& others) {
  for (const auto& [name, tensor] : others)
    TORCH_CHECK(!tensor || tensor->device() == first.device(), op, ": ", name, " is on ", tensor->device(),
                ", other operands on ", first.device());
}

void check_shape(const char* op, const char* name, const at::Tensor& tensor, at::IntArrayRef sizes,
                 const at::Tensor& like, std::optional<at::ScalarType> dtype) {
  const at::ScalarType wanted = dtype.value_or(like.scalar_type());
  TORCH_CHECK(tensor.sizes() == sizes && tensor.scalar_type() == wanted, op, ": ", name, " must be ", wanted, " ",
              sizes, ", got ", tensor.scalar_type(), " ", tensor.sizes());
  check_same_device(op, like, {{name, tensor}});
}

}  // namespace cachet::ops
