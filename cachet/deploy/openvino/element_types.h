#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <openvino/op/constant.hpp>

namespace cachet::deploy {

/// Returns OpenVINO's type of a dtype. Throws c10::Error for dtypes that no model here has.
ov::element::Type element_type(at::ScalarType dtype);

/// Returns a constant that shares the tensor's memory and owns a reference to it.
std::shared_ptr<ov::op::v0::Constant> tensor_constant(const at::Tensor& tensor);

}  // namespace cachet::deploy
