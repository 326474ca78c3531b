#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "cachet/io/tensors/safetensors/safetensors_header.h"

namespace cachet::io {

/// LibTorch's type for one of the format.
at::ScalarType scalar_type(SafetensorsType type);

/// The inverse; throws io::Error naming the tensor where the format has none.
SafetensorsType safetensors_type(at::ScalarType type, const std::string& tensor);

}  // namespace cachet::io
