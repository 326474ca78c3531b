#pragma once

#include "cachet/deploy/onnx/onnx_model.h"
#include "cachet/deploy/portable_model.h"

namespace cachet::deploy {

/// Converts a portable model to operators of the ONNX standard, with inputs by their names and the output `scores`.
/// Throws c10::Error that names the operators that it cannot convert.
OnnxModel convert_to_onnx(const PortableModel& portable);

}  // namespace cachet::deploy
