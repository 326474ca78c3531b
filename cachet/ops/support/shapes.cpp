#include "cachet/ops/support/shapes.h"

#include "cachet/ops/support/device_check.h"

namespace cachet::ops {

void check_shape(const char* op, const char* name, const at::Tensor& tensor, c10::SymIntArrayRef sizes,
                 const at::Tensor& like, std::optional<at::ScalarType> dtype) {
  const at::ScalarType wanted = dtype.value_or(like.scalar_type());
  TORCH_CHECK(tensor.scalar_type() == wanted && same_sizes(tensor.sym_sizes(), sizes), op, ": ", name, " must be ",
              wanted, " ", sizes, ", got ", tensor.scalar_type(), " ", tensor.sym_sizes());
  check_same_device(op, like, {{name, tensor}});
}

at::Tensor empty_side_by_side(const at::Tensor& x, const c10::SymInt& length, const c10::SymInt& width) {
  return at::empty_symint({x.sym_size(0), length, x.sym_size(1), width}, x.options()).transpose(1, 2);
}

}  // namespace cachet::ops
