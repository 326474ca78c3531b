#pragma once

#include <ATen/core/TensorBody.h>

#include <map>
#include <string>

namespace cachet::io {

/// Tensors by name: a state dict, its gradients, the contents of a file.
using TensorMap = std::map<std::string, at::Tensor>;

}  // namespace cachet::io
