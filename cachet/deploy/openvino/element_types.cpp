#include "cachet/deploy/openvino/element_types.h"

namespace cachet::deploy {

ov::element::Type element_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return ov::element::f32;
    case at::kDouble:
      return ov::element::f64;
    case at::kBFloat16:
      return ov::element::bf16;
    case at::kLong:
      return ov::element::i64;
    case at::kInt:
      return ov::element::i32;
    case at::kByte:
      return ov::element::u8;
    case at::kBool:
      return ov::element::boolean;
    default:
      TORCH_CHECK(false, "openvino: there is no element type for ", dtype);
  }
}

std::shared_ptr<ov::op::v0::Constant> tensor_constant(const at::Tensor& tensor) {
  const auto kept = std::make_shared<at::Tensor>(tensor.contiguous());
  return std::make_shared<ov::op::v0::Constant>(element_type(kept->scalar_type()),
                                                ov::Shape(kept->sizes().begin(), kept->sizes().end()),
                                                kept->const_data_ptr(), kept);
}

}  // namespace cachet::deploy
