#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <openvino/op/constant.hpp>

namespace cachet::deploy {

/// Returns OpenVINO's type for a dtype. Throws c10::Error for dtypes that Cachet's models do not have.
ov::element::Type element_type(at::ScalarType dtype);

/// Returns a constant that uses the tensor's memory. The constant owns a reference to the tensor's memory.
std::shared_ptr<ov::op::v0::Constant> tensor_constant(const at::Tensor& tensor);

}  // namespace cachet::deploy
