#pragma once

#include "cachet/deploy/onnx/onnx_model.h"
#include "cachet/deploy/portable_model.h"

namespace cachet::deploy {

/// A portable model in operators of the ONNX standard: inputs by their names, the output is `scores`. Throws c10::Error
/// that names the operators which it cannot write.
OnnxModel convert_to_onnx(const PortableModel& portable);

}  // namespace cachet::deploy
