#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <openvino/op/constant.hpp>

namespace cachet::deploy {

/// Throws c10::Error for dtypes that no model here has.
ov::element::Type element_type(at::ScalarType dtype);

/// A constant that shares the tensor's memory and keeps it alive.
std::shared_ptr<ov::op::v0::Constant> tensor_constant(const at::Tensor& tensor);

}  // namespace cachet::deploy
