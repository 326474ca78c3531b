#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "cachet/io/tensors/safetensors/safetensors_header.h"

namespace cachet::io {

/// Returns LibTorch's type for a type of the safetensors format.
at::ScalarType scalar_type(SafetensorsType type);

/// Returns the type of the safetensors format for a type of LibTorch. If the format lacks the type, throws io::Error,
/// which names the tensor.
SafetensorsType safetensors_type(at::ScalarType type, const std::string& tensor);

}  // namespace cachet::io
